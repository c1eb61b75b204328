package dynamodb

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// longest is a failure that JSON makes the most of.
var longest = fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_SOURCE_GONE", Message: fault.Shortened(strings.Repeat("\x01", 5000))}

// boundOf is the longest key that a range ends at, of what JSON makes the most of.
func boundOf(text string) keyspace.Key {
	key := keyspace.Key{text}
	for key.CanBound() {
		key[0] += text
	}
	return keyspace.Key{strings.TrimSuffix(key[0], text)}
}

// largest is a chunk, and the result of a task that cannot be split, with as
// much as they may have.
func largest(id contract.TaskID) (runstate.Chunk, runstate.Result) {
	c := runstate.Chunk{
		RunID: contract.RunID(strings.Repeat("r", contract.MaxRunIDBytes)), ID: id, Status: runstate.ChunkPending, Gen: 999_999, MaxAttempts: 3,
		Range: keyspace.Range{After: boundOf("\x01"), UpTo: boundOf("\x02")}, CreatedAt: time.Unix(1e9, 1).UTC(), ChangedAt: time.Unix(1e9, 1).UTC(),
	}
	r := runstate.Result{Rows: 1 << 60, Bytes: 1 << 60, ReadPosition: strings.Repeat("0/1", 100), HiKeys: [][]string{{strings.Repeat("h", runstate.MaxHiKeyBytes)}}, StartedAt: c.CreatedAt}
	for i := range runstate.MaxParts {
		r.Parts = append(r.Parts, runstate.PartRecord{
			Path: contract.PartNaming{Generation: c.Gen, Ext: "parquet"}.Name(id, i), Rows: 1 << 40, SizeBytes: 1 << 40,
			Fingerprint: contract.FingerprintOf(nil), MD5: strings.Repeat("f", 32),
		})
	}
	return c, r
}

// A table takes items of 400 KB. What grows in one is bounded, and the bounds
// fit together.
func TestTheLargestItemsAreTaken(t *testing.T) {
	table := openVia(t, nil, clock.System{})
	now := time.Unix(1e9, 1).UTC()
	c, result := largest(contract.BaseTaskID(1))

	trigger, err := json.Marshal(wire.Trigger{Version: 1, Action: wire.ActionRun, Callback: &wire.Callback{Kind: "sfn"}})
	if err != nil {
		t.Fatal(err)
	}
	full := strings.Repeat("t", wire.MaxTriggerBytes-len(trigger))
	run := runstate.Run{
		RunID: c.RunID, Export: "orders", TriggerID: full, Status: runstate.RunPlanning, Trigger: append(trigger, full...),
		Callback: &wire.Callback{Kind: "sfn", Token: full}, Root: wire.Location{Kind: "s3", URI: "s3://b/" + strings.Repeat("p", 1024)}, CreatedAt: now,
	}
	if err := table.CreateRun(t.Context(), run); err != nil {
		t.Fatalf("the largest run: %v", err)
	}
	if _, err := table.FailRun(t.Context(), run.RunID, 0, longest, now); err != nil {
		t.Errorf("the longest failure: %v", err)
	}

	if err := table.PutChunk(t.Context(), c); err != nil {
		t.Fatalf("the longest bounds: %v", err)
	}
	lease := runstate.Lease{Run: c.RunID, Task: c.ID, Token: "t"}
	claim := runstate.ClaimRequest{Run: c.RunID, Task: c.ID, Gen: c.Gen, Token: "t", Worker: "w", Now: now, LeaseUntil: now}
	if _, err := table.Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Fail(t.Context(), lease, longest, false, now); err != nil {
		t.Fatalf("the longest failure of a chunk: %v", err)
	}
	if _, err := table.Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Complete(t.Context(), lease, result, now); err != nil {
		t.Fatalf("the largest result: %v", err)
	}
}

// A page of a query ends at 1 MB, long before a shard does.
func TestAShardOfManyPagesIsListedWhole(t *testing.T) {
	table := openVia(t, nil, clock.System{}).Sharded(runstate.DefaultFaninK)
	var run contract.RunID
	for i := range runstate.DefaultFaninK {
		c, _ := largest(contract.BaseTaskID(i))
		run = c.RunID
		if err := table.PutChunk(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	chunks, err := table.ListChunks(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[contract.TaskID]bool{}
	for _, c := range chunks {
		seen[c.ID] = true
	}
	if len(chunks) != runstate.DefaultFaninK || len(seen) != len(chunks) {
		t.Errorf("%d chunks, %d different ones, want %d", len(chunks), len(seen), runstate.DefaultFaninK)
	}
	if body, err := json.Marshal(chunks); err != nil || len(body) < 2<<20 {
		t.Errorf("all chunks have %d bytes, which is no second page: %v", len(body), err)
	}
}
