package memory_test

import (
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
)

// BenchmarkTenThousandChunks is the table's part of a run of 10,000 chunks:
// each is put, claimed, completed and added to its leaf, and all are listed.
func BenchmarkTenThousandChunks(b *testing.B) {
	const chunks = 10_000
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for b.Loop() {
		table, ctx := memory.New(), b.Context()
		must := func(err error) {
			if err != nil {
				b.Fatal(err)
			}
		}
		for i := range chunks {
			id := contract.BaseTaskID(i)
			shard := runstate.ShardOf(id, table.FaninK())
			must(table.PutFanin(ctx, runstate.Fanin{RunID: "r", Shard: shard, Expected: table.FaninK()}))
			must(table.PutChunk(ctx, runstate.Chunk{RunID: "r", ID: id, Gen: 1, MaxAttempts: 3}))
			_, err := table.Claim(ctx, runstate.ClaimRequest{Run: "r", Task: id, Gen: 1, Token: "t", Now: now, LeaseUntil: now})
			must(err)
			result := runstate.Result{Rows: 1, Parts: []runstate.PartRecord{{Path: "part", Rows: 1}}}
			_, err = table.Complete(ctx, runstate.Lease{Run: "r", Task: id, Token: "t"}, result, now)
			must(err)
			_, err = table.FaninAdd(ctx, "r", shard, string(id))
			must(err)
		}
		for shard := range chunks / table.FaninK() {
			_, err := table.ListChunks(ctx, "r", shard)
			must(err)
		}
	}
}
