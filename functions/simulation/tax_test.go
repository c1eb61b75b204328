package simulation

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// rowBytes is what one row of the simulated table weighs.
const rowBytes = 8

// tollgate counts what workers read of the source, and kills one of them when it
// has read as many rows as it was given to live.
type tollgate struct {
	source.Opener
	rng     *rand.Rand
	share   float64 // of the workers that die
	task    int64   // rows that a worker reads, about
	dies    func()  // ends the worker that reads now
	mayRead int64   // rows until it does; negative is never

	read    int64 // rows, by every worker so far
	workers int   // that have begun to read
	killed  int
}

func (g *tollgate) Open(ctx context.Context, s exportconfig.Source) (source.Source, error) {
	g.workers++
	g.mayRead = -1
	if g.rng.Float64() < g.share {
		g.mayRead = g.rng.Int64N(g.task)
	}
	inner, err := g.Opener.Open(ctx, s)
	return gatedSource{inner, g}, err
}

func (g *tollgate) kill() error {
	g.killed++
	g.dies()
	return errDead
}

type gatedSource struct {
	source.Source
	gate *tollgate
}

func (s gatedSource) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	inner, err := s.Source.Read(ctx, spec)
	return gatedReader{inner, s.gate}, err
}

type gatedReader struct {
	source.Reader
	gate *tollgate
}

func (r gatedReader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	b, err := r.Reader.Next(ctx)
	if err != nil {
		if r.gate.mayRead >= 0 { // after its last row, before its task is completed
			return nil, r.gate.kill()
		}
		return nil, err
	}
	r.gate.read += int64(b.Rows)
	if r.gate.mayRead >= 0 {
		if r.gate.mayRead -= int64(b.Rows); r.gate.mayRead < 0 {
			return nil, r.gate.kill()
		}
	}
	return b, nil
}

// taxed is a run whose workers are killed.
type taxed struct {
	*world
	gate tollgate
}

func (n size) taxed(w *world) *taxed {
	x := &taxed{world: w, gate: tollgate{Opener: w.db, rng: rand.New(rand.NewPCG(1, 2)), task: n.rows / n.tasks}}
	if w.budget > 0 {
		x.gate.task = linkRows
	}
	return x
}

// work lets one worker take a message. With the given probability it is killed
// at a random point of its read. false means that no message is due.
func (x *taxed) work(tb testing.TB, share float64) bool {
	tb.Helper()
	x.gate.share = share
	d, ok, err := x.queues.TryReceive(chunkQueue)
	if err != nil {
		tb.Fatal(err)
	} else if !ok {
		return false
	}
	m, err := wire.Decode[wire.ChunkTask](d.Body)
	if err != nil {
		tb.Fatal(err)
	}
	l := &life{w: x.world}
	x.gate.dies = func() { l.dead = true }
	ctx := tb.Context()
	if x.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, x.now.Add(x.budget))
		defer cancel()
	}
	out, _ := chunk.Handle(ctx, chunk.Deps{
		Destinations: l, State: l.table(), Queue: l.queue(), Sources: &x.gate, Formats: formats, Clock: x, IDs: x, Log: quiet,
		Worker: "w", Lease: x.lease, Heartbeat: time.Minute,
	}, m)
	switch {
	case l.dead: // the message comes back
	case out.Kind == wire.Retry:
		err = x.queues.Nack(tb.Context(), d, time.Duration(out.AfterSeconds)*time.Second)
	default:
		err = x.queues.Ack(tb.Context(), d)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return true
}

// finish works until a run has succeeded.
func (x *taxed) finish(tb testing.TB, share float64, run contract.RunID) {
	tb.Helper()
	for range 100_000 {
		if x.work(tb, share) {
			continue
		}
		if ok, err := x.deliver(tb.Context(), wire.FinalizeQueue); err != nil {
			tb.Fatal(err)
		} else if ok {
			continue
		}
		if r, err := x.table.GetRun(tb.Context(), run); err != nil {
			tb.Fatal(err)
		} else if r.Status == runstate.RunSucceeded && r.Notified {
			return
		} else if r.Status.Terminal() {
			tb.Fatalf("the run is %s: %+v", r.Status, r.Error)
		}
		x.now = x.now.Add(time.Minute)
		if _, err := x.planner(tb.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Fatal("the run does not end")
}

func (x *taxed) plan(tb testing.TB, id int) {
	tb.Helper()
	if answer, err := x.planner(tb.Context(), x.trigger(id)); err != nil || answer.Status != wire.Started {
		tb.Fatalf("%+v (%v)", answer, err)
	}
}

// halfWay is a run of which half of the tasks are completed when the process
// with its four workers is killed, each in the middle of a task.
func (n size) halfWay(tb testing.TB) *taxed {
	tb.Helper()
	x := n.taxed(n.cut())
	x.plan(tb, 1)
	for range n.tasks / 2 {
		x.work(tb, 0)
	}
	for range 4 {
		x.work(tb, 1)
	}
	for _, m := range x.queues.Pending(chunkQueue) {
		x.queues.Drop(chunkQueue, m.ID)
	}
	x.now = x.now.Add(planTimeout)
	return x
}

// size is how much a taxed run has to do.
type size struct{ rows, tasks int64 }

// linkRows is what a task delivers before it splits, about.
const linkRows = 430

// cut is a world whose table is cut into tasks.
func (n size) cut() *world {
	w := newWorld(n.rows, 0)
	w.config.Exports[0].ChunkSize, w.config.Exports[0].ChunkMaxAttempts = n.rows/n.tasks, 60
	return w
}

// whole is a world with one task, which hands the rest on before each deadline.
func (n size) whole() *world {
	w := n.cut()
	e := &w.config.Exports[0]
	e.Mode, e.ChunkColumn, e.ChunkSize = "full", "", 0
	w.budget = time.Minute
	w.slow(250 * time.Millisecond)
	return w
}

// crashTaxes are what is measured: what a crash costs, in bytes that are read
// again.
var crashTaxes = []struct {
	name string
	pay  func(tb testing.TB, n size) *taxed
}{
	{"many_tasks/10%_of_workers_killed", killing(size.cut, 0.1)},
	{"many_tasks/30%_of_workers_killed", killing(size.cut, 0.3)},
	{"many_tasks/50%_of_workers_killed", killing(size.cut, 0.5)},
	{"one_task_that_splits/10%_of_workers_killed", killing(size.whole, 0.1)},
	{"one_task_that_splits/30%_of_workers_killed", killing(size.whole, 0.3)},
	{"one_task_that_splits/50%_of_workers_killed", killing(size.whole, 0.5)},
	{"process_with_4_workers_killed_half_way/resumed", func(tb testing.TB, n size) *taxed {
		x := n.halfWay(tb)
		if _, err := x.planner(tb.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: x.runID(1)}); err != nil {
			tb.Fatal(err)
		}
		x.finish(tb, 0, x.runID(1))
		return x
	}},
	{"process_with_4_workers_killed_half_way/rolled_back", func(tb testing.TB, n size) *taxed {
		x := n.halfWay(tb)
		x.plan(tb, 2) // seals the first run: what that has read is read again
		x.finish(tb, 0, x.runID(2))
		return x
	}},
	{"finalizer_killed_after_the_commit_point/finished", func(tb testing.TB, n size) *taxed {
		x := n.taxed(n.cut())
		x.plan(tb, 1)
		for x.work(tb, 0) {
		}
		x.before = func(op string) {
			if op == "replace "+out+contract.ManifestName && x.death.at == 0 {
				x.death.at = x.calls + 1
			}
		}
		if _, err := x.deliver(tb.Context(), wire.FinalizeQueue); err != nil {
			tb.Fatal(err)
		}
		x.before = nil
		x.finish(tb, 0, x.runID(1))
		return x
	}},
}

func killing(world func(size) *world, share float64) func(testing.TB, size) *taxed {
	return func(tb testing.TB, n size) *taxed {
		x := n.taxed(world(n))
		x.plan(tb, 1)
		x.finish(tb, share, x.runID(1))
		return x
	}
}

// BenchmarkCrashTax prints what is read again when workers are killed at random
// points of their reads, retries too, by the real handlers.
func BenchmarkCrashTax(b *testing.B) {
	for _, tax := range crashTaxes {
		b.Run(tax.name, func(b *testing.B) {
			var x *taxed
			for b.Loop() {
				x = tax.pay(b, size{rows: 40_000, tasks: 400})
			}
			read, table := x.gate.read*rowBytes, x.db.rows*rowBytes
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(x.gate.workers), "workers")
			b.ReportMetric(float64(x.gate.killed), "killed")
			b.ReportMetric(float64(table), "table-bytes")
			b.ReportMetric(float64(read-table), "reread-bytes")
			b.ReportMetric(float64(read-table)/float64(table)*100, "%reread")
		})
	}
}

// However many workers die, the table is delivered once; what is read again is
// what the dead ones were at, and no more.
func TestCrashTax(t *testing.T) {
	for _, tax := range crashTaxes {
		t.Run(tax.name, func(t *testing.T) {
			x := tax.pay(t, size{rows: 2_000, tasks: 20})
			m, rows := x.world.read(t)
			x.wantTable(t, "in the end", rows)
			again, atMost := x.gate.read-x.db.rows, int64(x.gate.killed)*(x.gate.task+batchRows)
			if m.RunID == x.runID(2) {
				atMost += x.db.rows / 2 // what the first run had completed
			}
			if again < 0 || again > atMost {
				t.Errorf("%d rows were read again, %d workers of %d died: at most %d were expected", again, x.gate.killed, x.gate.workers, atMost)
			}
		})
	}
}
