package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// world is a database, a bucket, a table and the queues: everything that
// outlives a process.
type world struct {
	db     *database
	bucket destination.Store
	table  runstate.Table
	queues *inprocess.Queues
	now    time.Time
	ids    int
	config exportconfig.Config
	lease  time.Duration
	// budget is the time of one chunk invocation; 0 is no limit.
	budget time.Duration
	// pace is the time between two sweeps.
	pace time.Duration

	death  plan
	mu     sync.Mutex
	calls  int    // of all processes
	lastOp string // the last one
	last   string // what the last message came to
	// before, if set, is called before every call of a process.
	before func(op string)
	// gate, if set, performs every call of a process when its turn comes.
	gate func(l *life, op string, perform func() error) error
	// twice delivers every message twice.
	twice bool
}

// loseTable deletes every item of a table in memory.
func (w *world) loseTable() { w.table.(*memory.Table).DropAll() }

var chunkQueue = wire.ChunkQueue("default")

func newWorld(rows int64, nulls int) *world {
	w := &world{
		db:     &database{rows: rows, nulls: nulls, system: "1"},
		bucket: destmemory.New("memory://bucket", destmemory.LikeS3),
		table:  memory.NewSharded(2),
		now:    time.Date(2126, 11, 29, 12, 0, 0, 0, time.UTC),
		lease:  3 * time.Minute,
		pace:   time.Minute,
	}
	w.queues = inprocess.New(w, inprocess.Settings{Visibility: 6 * time.Minute}, chunkQueue, wire.FinalizeQueue, wire.ValidateQueue)
	w.config = stage.Config()
	return w
}

// Now, After, NewID and Jitter make world the clock and the source of ids.
func (w *world) Now() time.Time                       { return w.now }
func (w *world) After(time.Duration) <-chan time.Time { return nil }
func (w *world) Jitter() float64                      { return 0 }
func (w *world) NewID() string {
	w.ids++
	return "id-" + strconv.Itoa(w.ids)
}

// Open implements [destination.Opener].
func (l *life) Open(_ context.Context, at wire.Location) (destination.Store, error) {
	if l.dead {
		return nil, errDead
	}
	if _, folder, nested := strings.Cut(at.URI, "bucket/"); nested {
		return destination.Prefixed(l.bucket(), folder+"/"), nil
	}
	return l.bucket(), nil
}

// Load implements [planner.ConfigLoader].
func (w *world) Load(context.Context, string, map[string]string) (exportconfig.Config, error) {
	return w.config, nil
}

var (
	quiet   = slog.New(slog.DiscardHandler)
	formats = map[string]partfile.Format{"csv": stage.Lines{}}
)

// planner is one invocation of the planner.
func (w *world) planner(ctx context.Context, t wire.Trigger) (wire.TriggerResult, error) {
	l := &life{w: w, as: string(t.Action)}
	s := planner.DefaultSettings()
	s.PutConcurrency = 1
	s.Budget = w.budget
	return planner.Handle(ctx, planner.Deps{
		Configs: w, Destinations: l, State: l.table(), Queue: l.queue(), Sources: w.db, Formats: formats,
		Notifier: notify.Nop{}, Clock: w, IDs: w, Log: quiet, Settings: s,
	}, t)
}

func (w *world) trigger(id int) wire.Trigger {
	at := contract.NewTime(time.Date(2126, 11, 29, 12, 0, id, 0, time.UTC))
	return wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: "orders", ScheduledTime: &at}
}

func (w *world) runID(id int) contract.RunID {
	return contract.NewRunID("orders", time.Date(2126, 11, 29, 12, 0, id, 0, time.UTC))
}

// deliver hands one message that is due to its function, in a process of its
// own, and settles it unless the process dies. false means that none is due.
func (w *world) deliver(ctx context.Context, queue string) (bool, error) {
	d, ok, err := w.queues.TryReceive(queue)
	if err != nil || !ok {
		return false, err
	}
	l := &life{w: w, as: "chunk"}
	var out wire.Outcome
	if queue == wire.FinalizeQueue {
		l.as = "finalize"
		m, err := wire.Decode[wire.FinalizeTask](d.Body)
		if err != nil {
			return false, err
		}
		out, _ = finalizer.Handle(ctx, finalizer.Deps{Destinations: l, State: l.table(), Queue: l.queue(), Notifier: notify.Nop{}, Clock: w, IDs: w, Log: quiet}, m)
	} else {
		m, err := wire.Decode[wire.ChunkTask](d.Body)
		if err != nil {
			return false, err
		}
		limited := ctx
		if w.budget > 0 {
			var cancel context.CancelFunc
			limited, cancel = context.WithDeadline(ctx, w.now.Add(w.budget)) // the simulated clock is far ahead of the real one
			defer cancel()
		}
		out, _ = chunk.Handle(limited, chunk.Deps{
			Destinations: l, State: l.table(), Queue: l.queue(), Sources: w.db, Formats: formats, Clock: w, IDs: w, Log: quiet,
			Worker: "w", Lease: w.lease, Heartbeat: time.Minute,
		}, m)
	}
	w.last = out.Detail
	switch {
	case l.dead:
		return true, nil // the message comes back when its visibility time has passed
	case out.Kind == wire.Retry:
		return true, w.queues.Nack(ctx, d, time.Duration(out.AfterSeconds)*time.Second)
	}
	if w.twice {
		w.twice = false
		defer func() { w.twice = true }()
		if err := w.queues.Send(ctx, queue, taskqueue.Message{Body: d.Body}); err != nil {
			return true, err
		}
		if _, err := w.deliver(ctx, queue); err != nil {
			return true, err
		}
	}
	return true, w.queues.Ack(ctx, d)
}

// settle works until the runs have ended: it delivers what is due, and lets the
// clock run to the next sweep when nothing is.
func (w *world) settle(t *testing.T, runs ...contract.RunID) {
	t.Helper()
	ctx := t.Context()
	for range 400 {
		busy := false
		for _, queue := range []string{chunkQueue, wire.FinalizeQueue} {
			ok, err := w.deliver(ctx, queue)
			if err != nil {
				t.Fatal(err)
			}
			busy = busy || ok
		}
		if busy {
			continue
		}
		if w.ended(t, runs) {
			return
		}
		w.now = w.now.Add(w.pace)
		if _, err := w.planner(ctx, wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil {
			t.Logf("sweep: %v", err)
		}
	}
	for _, id := range runs {
		run, err := w.table.GetRun(ctx, id)
		t.Logf("run %s is %s at generation %d (%v): %+v", id, run.Status, run.Gen, err, run.Error)
		for shard := range run.Shards {
			leaf, _ := w.table.GetFanin(ctx, id, shard)
			t.Logf("  shard %d: %v of %d", shard, leaf.Done, leaf.Expected)
			chunks, _ := w.table.ListChunks(ctx, id, shard)
			for _, c := range chunks {
				t.Logf("  task %s %s gen %d, attempt %d, %s", c.ID, c.Status, c.Gen, c.Attempts, c.Range)
			}
		}
	}
	t.Fatalf("the runs do not end (crash in call %d, last call %s): %s", w.death.at, w.lastOp, w.last)
}

func (w *world) ended(t *testing.T, runs []contract.RunID) bool {
	for _, id := range runs {
		run, err := w.table.GetRun(t.Context(), id)
		if err != nil {
			t.Fatalf("run %s: %v", id, err)
		}
		if !run.Status.Terminal() || run.Status == runstate.RunSucceeded && !run.Notified {
			return false
		}
	}
	return true
}

// read returns the rows of the run that the prefix holds, as a loader reads
// them: only the parts that a Success manifest lists, and only if the marker
// fits.
func (w *world) read(t *testing.T) (contract.Manifest, map[string]int) {
	t.Helper()
	prefix := destination.Prefixed(w.bucket, "out/")
	body, _, err := prefix.Get(t.Context(), contract.ManifestName, contract.MaxManifestBytes)
	if err != nil {
		t.Fatal(err)
	}
	marker, _, err := prefix.Get(t.Context(), contract.SuccessName, contract.MaxSuccessBytes)
	if err != nil || string(marker) != string(contract.SuccessBody(body)) {
		t.Fatalf("the marker %q does not fit the manifest (%v)", marker, err)
	}
	return w.rowsOf(t, body)
}

func (w *world) rowsOf(t *testing.T, manifest []byte) (contract.Manifest, map[string]int) {
	t.Helper()
	m, err := contract.DecodeManifest(manifest)
	if err != nil || m.Status != contract.StatusSuccess {
		t.Fatalf("manifest with status %q: %v", m.Status, err)
	}
	rows := make(map[string]int)
	for _, p := range m.Parts {
		body, _, err := destination.Prefixed(w.bucket, "out/").Get(t.Context(), p.Path, 1<<20)
		if err != nil || contract.FingerprintOf(body) != p.ContentFingerprint || int64(len(body)) != p.SizeBytes {
			t.Fatalf("part %s is not as the manifest says (%v)", p.Path, err)
		}
		for line := range strings.Lines(string(body)) {
			rows[strings.TrimSpace(line)]++
		}
	}
	return m, rows
}

// wantTable fails the test unless rows are those of the database, each once.
func (w *world) wantTable(t *testing.T, when string, rows map[string]int) {
	t.Helper()
	n, nulls := w.db.extent()
	for i := int64(1); i <= n; i++ {
		if rows[fmt.Sprint(i)] != 1 {
			t.Fatalf("%s: row %d is there %d times", when, i, rows[fmt.Sprint(i)])
		}
	}
	if rows["null"] != nulls || len(rows) > int(n)+1 {
		t.Fatalf("%s: %d rows with a NULL key, want %d; %d different rows", when, rows["null"], nulls, len(rows))
	}
}

// planTimeout is when every lease of a dead planner, run and worker has ended.
const planTimeout = 20 * time.Minute

// drainUntilDead delivers what is due until a process dies, or nothing is left.
func (w *world) drainUntilDead(t *testing.T) {
	t.Helper()
	for range 200 {
		if w.death.at > 0 && w.calls >= w.death.at {
			return
		}
		busy := false
		for _, queue := range []string{chunkQueue, wire.FinalizeQueue} {
			ok, err := w.deliver(t.Context(), queue)
			if err != nil {
				t.Fatal(err)
			}
			busy = busy || ok
		}
		if !busy {
			return
		}
	}
}

// dropMessages empties the queues, as the end of a process of one's own does.
func (w *world) dropMessages(t *testing.T) {
	t.Helper()
	for _, queue := range []string{chunkQueue, wire.FinalizeQueue, wire.ValidateQueue} {
		for _, m := range w.queues.Pending(queue) {
			w.queues.Drop(queue, m.ID)
		}
	}
}

// wantHistory fails the test unless every sidecar is a tombstone or a success
// whose parts are there, and no object was lost (V5, V6).
func (w *world) wantHistory(t *testing.T, when string) {
	t.Helper()
	prefix := destination.Prefixed(w.bucket, "out/")
	var names []string
	if err := prefix.List(t.Context(), "manifest-", func(o destination.Object) error {
		names = append(names, o.Key)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		body, _, err := prefix.Get(t.Context(), name, contract.MaxManifestBytes)
		if err != nil {
			t.Fatal(err)
		}
		m, err := contract.DecodeManifest(body)
		if err != nil {
			t.Fatalf("%s: %s: %v", when, name, err)
		}
		if m.Tombstone() {
			continue
		}
		_, rows := w.rowsOf(t, body)
		w.wantTable(t, when+", "+name, rows)
	}
}
