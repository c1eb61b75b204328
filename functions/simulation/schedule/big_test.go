package schedule

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/shared/contract"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// How long calls take in virtual time.
const (
	tableTime  = 8 * time.Millisecond
	objectTime = 40 * time.Millisecond
	readTime   = 20 * time.Second
)

// big is a run of many chunks on many workers. Its calls do not wait for a
// turn: a worker does a whole message at the virtual time at which it is free.
type big struct {
	*simulation
	rng         *rand.Rand
	workers     hours
	tableCalls  int
	heap        uint64
	finalizing  time.Duration // of the slowest finalizer
	diesIn      int           // calls until the process at work dies; 0 is never
	duplicates  int
	killed      int
	lostAnswers int
	lossy       bool // at a planner, whose ten thousand writes follow one another, a driver tries again
}

// hours are the times at which workers are free.
type hours []time.Time

func (h hours) Len() int           { return len(h) }
func (h hours) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h hours) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hours) Push(x any)        { *h = append(*h, x.(time.Time)) }
func (h *hours) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newBig(ctx context.Context, chunks, workers int) *big {
	rng := rand.New(rand.NewPCG(1, 3))
	s := &simulation{ctx: ctx, now: firstTime, labels: make(map[string]string), plans: &chunk.Plans{}}
	s.top = topology{
		export: exportconfig.Export{
			Name: "orders", Table: "orders", Mode: "chunked", ChunkColumn: "id", ChunkSize: 2, ChunkMaxAttempts: 10, Parallel: 1, Format: "csv", Compression: "none",
			Verify: "size", PartBytes: 128 << 20, MaxValueBytes: 1 << 20, RetryBackoffMillis: 1000,
			Destination: wire.Location{Kind: "memory", URI: "memory://bucket"}, PrefixTemplate: "out/", OnConflict: "reject", IfSuccess: "new_run",
		},
		keyed: true, batch: 10,
	}
	s.source = &relation{keyed: true}
	for i := range 2 * chunks {
		s.source.rows = append(s.source.rows, row{key: int64(i + 1), version: int64(i + 1)})
	}
	s.bucket = destmemory.New("memory://bucket", destmemory.LikeS3)
	s.table = memory.New()
	s.queues = inprocess.New(s, inprocess.Settings{Visibility: 6 * time.Minute}, queueNames...)
	b := &big{simulation: s, rng: rng, workers: make(hours, workers)}
	for i := range b.workers {
		b.workers[i] = firstTime
	}
	s.direct = b.perform
	return b
}

// perform performs a call at once: 1 % of the writes lose their answer, and the
// process may die in it.
func (b *big) perform(p *process, c call) error {
	c.p = p
	switch {
	case c.bucket:
		p.slow += objectTime
	case strings.HasPrefix(c.op, "read "):
		p.slow += readTime
	case !strings.HasPrefix(c.op, "send ") && !strings.HasPrefix(c.op, "open ") && !strings.HasPrefix(c.op, "notify "):
		p.slow += tableTime
		b.tableCalls++
	}
	if b.diesIn > 0 {
		if b.diesIn--; b.diesIn == 0 {
			p.dead = true
			b.killed++
			return c.meet(diesAfter)
		}
	}
	if c.write && b.lossy && b.rng.IntN(100) == 0 {
		b.lostAnswers++
		return c.meet(ackLost)
	}
	return c.meet(proceeds)
}

// work delivers one message to the worker that is free first. false means that
// none is due.
func (b *big) work(t *testing.T) bool {
	b.now = b.workers[0]
	for _, q := range []string{wire.FinalizeQueue, chunkQueue} {
		d, ok, err := b.queues.TryReceive(q)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		b.born++
		p := &process{s: b.simulation, id: b.born}
		b.diesIn, b.lossy = 0, true
		if q == chunkQueue && b.rng.IntN(100) < 2 {
			b.diesIn = 1 + b.rng.IntN(7)
		}
		if q == chunkQueue && b.rng.IntN(100) < 5 {
			b.duplicates++
			if err := b.queues.Send(b.ctx, q, taskqueue.Message{Body: d.Body}); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = p.receive(b.ctx, d)
		if q == wire.FinalizeQueue {
			b.finalizing = max(b.finalizing, p.slow)
		}
		b.workers[0] = b.workers[0].Add(p.slow)
		heap.Fix(&b.workers, 0)
		return true
	}
	return false
}

func (b *big) planner(t *testing.T, trigger wire.Trigger) {
	t.Helper()
	b.born++
	b.diesIn, b.lossy = 0, false
	for range 5 {
		p := &process{s: b.simulation, id: b.born}
		if _, err := p.plan(b.ctx, trigger); err == nil {
			return
		}
	}
	t.Fatalf("the planner does not answer to %s", trigger.Action)
}

// A run of 10,000 chunks on 1,000 workers, with messages that come twice,
// workers that die and answers that are lost: it needs at most eight table
// operations a chunk, a finalizer is done within a minute, and the memory of
// everything together, table and bucket included, stays small.
func TestTenThousandChunksOnAThousandWorkers(t *testing.T) {
	chunks, workers := 10_000, 1000
	if testing.Short() || underRace {
		chunks, workers = 500, 100
	}
	b := newBig(t.Context(), chunks, workers)
	at := contract.NewTime(runTime(1))
	b.planner(t, wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: "orders", ScheduledTime: &at})
	for idle := 0; idle < 120; {
		if b.born%2000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.heap = max(b.heap, m.HeapInuse)
		}
		if b.work(t) {
			continue
		}
		if run, err := b.table.GetRun(b.ctx, runID(1)); err == nil && run.Status.Terminal() {
			break
		}
		idle++
		for i := range b.workers { // nothing is due: whoever is free waits
			if b.workers[i].Before(b.now.Add(time.Minute)) {
				b.workers[i] = b.now.Add(time.Minute)
			}
		}
		heap.Init(&b.workers)
		b.now = b.workers[0]
		b.planner(t, wire.Trigger{Version: wire.Version, Action: wire.ActionSweep})
	}
	run, err := b.table.GetRun(b.ctx, runID(1))
	if err != nil || run.Status != runstate.RunSucceeded || run.Outcome.Rows != int64(2*chunks) {
		t.Fatalf("the run is %s with %+v: %+v (%v)", run.Status, run.Outcome, run.Error, err)
	}
	perChunk := float64(b.tableCalls) / float64(chunks)
	t.Logf("%.2f table operations a chunk, %d MB of heap, slowest finalizer %s, run %s; %d duplicates, %d deaths, %d lost answers",
		perChunk, b.heap>>20, b.finalizing, b.now.Sub(firstTime), b.duplicates, b.killed, b.lostAnswers)
	if perChunk > 8 {
		t.Errorf("%.2f table operations a chunk", perChunk)
	}
	if b.heap > 1<<30 {
		t.Errorf("%d MB of heap", b.heap>>20)
	}
	if b.finalizing > time.Minute {
		t.Errorf("a finalizer takes %s", b.finalizing)
	}
	if b.duplicates == 0 || b.killed == 0 || b.lostAnswers == 0 {
		t.Error("nothing went wrong: the test no longer tests anything")
	}
}
