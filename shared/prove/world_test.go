package prove_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/prove"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// testing.T and rapid.T.
type reporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// world is a bucket with what runs of the export "orders" leave: the records and
// manifests are made by the code that a finalizer makes them with.
type world struct {
	reporter
	ctx   contextOf
	store destination.Store
}

type contextOf = interface {
	Deadline() (time.Time, bool)
	Done() <-chan struct{}
	Err() error
	Value(any) any
}

const prefix = "out/"

func newWorld(ctx contextOf, r reporter) *world {
	return &world{r, ctx, memory.New("memory://bucket", memory.LikeS3)}
}

// planned is a chunked run of the table orders with these ranges. Its id and
// generation are counted from 1.
func planned(n int, ranges ...keyspace.Range) commit.Frozen {
	f := commit.Frozen{
		Plan: chunkplan.Plan{
			PlanVersion: chunkplan.PlanVersion, RunID: runID(n), Prefix: prefix, Engine: "postgres", Strategy: chunkplan.Chunked, Consistency: "per_task",
			Export: exportconfig.Export{Name: "orders", Format: "csv", Compression: "none", Destination: wire.Location{Kind: "memory", URI: "memory://bucket"}},
			Key:    []keyspace.Column{{Name: "id", Native: "bigint"}}, Tasks: ranges,
		},
		Generation: contract.Generation(n),
	}
	for i, r := range ranges {
		f.Chunks = append(f.Chunks, task(contract.BaseTaskID(i), r))
	}
	return f
}

func runID(n int) contract.RunID { return contract.RunID(fmt.Sprintf("orders_%d", n)) }

func task(id contract.TaskID, r keyspace.Range) runstate.Chunk {
	return runstate.Chunk{ID: id, Range: r, Status: runstate.ChunkCompleted, Result: runstate.Result{ReadPosition: "0/1"}}
}

// tiled are the ranges that n-1 cuts make of the key space.
func tiled(n int) []keyspace.Range {
	ranges := []keyspace.Range{{}}
	for i := range n - 1 {
		cut := keyspace.Key{fmt.Sprint((i + 1) * 10)}
		ranges[i].UpTo = cut
		ranges = append(ranges, keyspace.Range{After: cut})
	}
	return ranges
}

// cut splits the task at index i in two, as T9 does.
func cut(f *commit.Frozen, i int, at string) {
	done, rest, err := f.Chunks[i].Range.CutAt(keyspace.Key{at})
	if err != nil {
		panic(err)
	}
	child := task(f.Chunks[i].ID.SplitChild(), rest)
	child.SplitOf = f.Chunks[i].ID
	f.Chunks[i].Range, f.Chunks[i].SplitInto = done, child.ID
	f.Chunks = append(f.Chunks, child)
}

// repair does the task at index i again, as T18 does.
func repair(f *commit.Frozen, i int) {
	again := task(f.Chunks[i].ID.Repair(), f.Chunks[i].Range)
	again.RepairOf = f.Chunks[i].ID
	f.Chunks[i].SupersededBy = again.ID
	f.Chunks = append(f.Chunks, again)
}

// fill gives every task a part of two rows, unless it has some already.
func (w *world) fill(f *commit.Frozen) {
	w.Helper()
	for i, c := range f.Chunks {
		if len(c.Parts) > 0 {
			continue
		}
		naming := contract.PartNaming{Generation: f.Generation, Plain: f.Generation == 1, Ext: "csv"}
		name := naming.Name(c.ID, 0)
		if c.RepairOf != "" {
			name = contract.Distinct(name, contract.FingerprintOf([]byte(c.ID)))
		}
		w.part(&f.Chunks[i], f.Plan.Prefix, name, 2)
	}
}

func (w *world) part(c *runstate.Chunk, prefix, name string, rows int64) {
	w.Helper()
	body := []byte("id\n" + strings.Repeat(string(c.ID)+"\n", int(rows)))
	w.put(prefix+name, body)
	c.Parts = append(c.Parts, runstate.PartRecord{Path: name, Rows: rows, SizeBytes: int64(len(body)), Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)})
	c.Rows += rows
}

// put stores an object, over another one if there is one.
func (w *world) put(key string, body []byte) {
	w.Helper()
	prev := destination.Absent
	if _, v, err := w.store.Get(w.ctx, key, 1<<30); err == nil {
		prev = v
	}
	if _, err := w.store.Replace(w.ctx, key, prev, body, destination.Meta{}); err != nil {
		w.Fatal(err)
	}
}

// lose takes an object away.
func (w *world) lose(key string) {
	w.Helper()
	o, err := w.store.Head(w.ctx, key)
	if err == nil {
		err = w.store.Move(w.ctx, key, "gone/"+key, o.Version)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// publish stores plan, record and sidecar of a run. damage, unless nil, changes
// what is recorded before it is written: every fingerprint then fits.
func (w *world) publish(f commit.Frozen, damage func(r *contract.RunRecord, m *contract.Manifest)) {
	w.Helper()
	plan, err := f.Plan.Encode()
	if err != nil {
		w.Fatal(err)
	}
	w.put(contract.PlanKey("orders", f.Plan.RunID), plan)
	body, err := f.Record(contract.FingerprintOf(plan))
	if err != nil {
		w.Fatal(err)
	}
	ref := contract.RunRecordRef{Key: contract.RecordKey("orders", f.Plan.RunID, f.Generation), Fingerprint: contract.FingerprintOf(body)}
	m := f.Manifest(ref)
	if damage != nil {
		r, err := contract.DecodeRunRecord(body)
		if err != nil {
			w.Fatal(err)
		}
		damage(&r, &m)
		if body, err = r.Encode(); err != nil {
			w.Fatal(err)
		}
		if m.RunRecord != nil && *m.RunRecord == ref {
			m.RunRecord.Fingerprint = contract.FingerprintOf(body)
		}
	}
	w.put(ref.Key, body)
	sidecar, err := m.Encode()
	if err != nil {
		w.Fatal(err)
	}
	w.put(f.Plan.Prefix+contract.SidecarName(f.Plan.RunID), sidecar)
}

func (w *world) prove(o prove.Options) prove.Result {
	w.Helper()
	o.Export = "orders"
	if o.Prefix == "" {
		o.Prefix = prefix
	}
	r, err := prove.Prove(w.ctx, w.store, o)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// codes are the last words of all findings, without notes.
func codes(r prove.Result) []string {
	found := []string{}
	add := func(list []prove.Finding) {
		for _, f := range list {
			if f.Class != contract.VerdictNote {
				found = append(found, strings.TrimPrefix(strings.TrimPrefix(string(f.Code), "LAPSTRAKE_PROVE_"), "RIVET_VERIFY_"))
			}
		}
	}
	for _, run := range r.Runs {
		add(run.Findings)
	}
	add(r.Findings)
	return found
}

// want fails unless exactly these reasons are given, none for a proof.
func want(t *testing.T, r prove.Result, reasons ...string) {
	t.Helper()
	if got := codes(r); !slices.Equal(got, reasons) || r.Proven != (len(reasons) == 0) {
		t.Errorf("proven %t for %v, want %v: %+v", r.Proven, got, reasons, r)
	}
}
