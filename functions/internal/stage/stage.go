// Package stage is what the tests of a handler play on: a database, a bucket, a
// table and queues in memory, in which one handler after the other is called and
// any of its calls can be stopped, lost, or interrupted by another handler.
// Layer: test.
//
// The simulation explores schedules; here a test arranges one state by hand and
// looks at what one step makes of it, so that no other step can make good what
// it does wrong.
package stage

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// ErrDead is what a process sees of the world after its end.
var ErrDead = errors.New("this process is dead")

// Stage is everything that outlives a process. The export "orders" is chunked
// by id, four rows a task, two tasks a shard, and writes lines of ids below
// out/.
type Stage struct {
	T      *testing.T
	DB     *Database
	Bucket destination.Store
	Table  *memory.Table
	Queues *inprocess.Queues
	Time   time.Time
	Config exportconfig.Config
	// Events are the notifications that were sent.
	Events []notify.Event

	// Around, if set, is given every call of every process, as "op subject":
	// "create out/manifest-1.json", "Claim orders/000000", "send finalize".
	// What it returns the process sees; perform makes the call.
	Around func(op string, perform func() error) error

	mu  sync.Mutex
	ids int
}

// ChunkQueue is the queue of the stage's source.
var ChunkQueue = wire.ChunkQueue("default")

// Config has one export, "orders": a table whose key is cut every four keys, into
// the folder out/ of a bucket in memory.
func Config() exportconfig.Config {
	return exportconfig.Config{
		Source: exportconfig.Source{Name: "default", Type: "postgres"},
		Exports: []exportconfig.Export{{
			Name: "orders", Table: "orders", Mode: "chunked", ChunkColumn: "id", ChunkSize: 4, ChunkMaxAttempts: 3, Parallel: 1,
			Format: "csv", Compression: "none", Verify: "size", PartBytes: 128 << 20, MaxValueBytes: 1 << 20, RetryBackoffMillis: 1000,
			Destination: wire.Location{Kind: "memory", URI: "memory://bucket"}, PrefixTemplate: "out/", OnConflict: "reject", IfSuccess: "new_run",
		}},
	}
}

// New returns a stage whose database has so many rows, with the keys from 1.
func New(t *testing.T, rows int64) *Stage {
	s := &Stage{
		T: t, DB: &Database{Rows: rows, System: "1"},
		Bucket: destmemory.New("memory://bucket", destmemory.LikeS3),
		Table:  memory.NewSharded(2),
		Time:   time.Date(2126, 11, 29, 12, 0, 0, 0, time.UTC),
	}
	s.Queues = inprocess.New(s, inprocess.Settings{Visibility: 6 * time.Minute}, ChunkQueue, wire.FinalizeQueue, wire.ValidateQueue)
	s.Config = Config()
	return s
}

// Now, After, NewID and Jitter make the stage the clock and the source of ids.
func (s *Stage) Now() time.Time { return s.Time }

// After never comes: no test waits.
func (s *Stage) After(time.Duration) <-chan time.Time { return nil }

// Jitter is none.
func (s *Stage) Jitter() float64 { return 0 }

// NewID counts.
func (s *Stage) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return "id-" + strconv.Itoa(s.ids)
}

// Load implements [planner.ConfigLoader].
func (s *Stage) Load(context.Context, string, map[string]string) (exportconfig.Config, error) {
	return s.Config, nil
}

// Notify implements [notify.Notifier].
func (s *Stage) Notify(_ context.Context, e notify.Event) error {
	s.Events = append(s.Events, e)
	return nil
}

var (
	silent  = slog.New(slog.DiscardHandler)
	formats = map[string]partfile.Format{"csv": Lines{}}
)

// RunID is the id of the run of trigger n.
func (s *Stage) RunID(n int) contract.RunID {
	return contract.NewRunID("orders", time.Date(2126, 11, 29, 12, 0, n, 0, time.UTC))
}

// Sidecar is the key of the sidecar of run n.
func (s *Stage) Sidecar(n int) string { return "out/" + contract.SidecarName(s.RunID(n)) }

// Trigger starts run n.
func (s *Stage) Trigger(n int) wire.Trigger {
	at := contract.NewTime(time.Date(2126, 11, 29, 12, 0, n, 0, time.UTC))
	return wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: "orders", ScheduledTime: &at}
}

// Resume resumes run n.
func (s *Stage) Resume(n int) wire.Trigger {
	return wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: s.RunID(n)}
}

// Repair repairs run n by force.
func (s *Stage) Repair(n int) wire.Trigger {
	t := s.Resume(n)
	t.Force = true
	return t
}

// Plan calls the planner in a process of its own.
func (s *Stage) Plan(t wire.Trigger) (wire.TriggerResult, error) {
	return planner.Handle(s.T.Context(), (&Process{Stage: s}).Planner(), t)
}

// MustPlan is Plan, and the test fails if the planner does.
func (s *Stage) MustPlan(t wire.Trigger) wire.TriggerResult {
	s.T.Helper()
	answer, err := s.Plan(t)
	if err != nil {
		s.T.Fatalf("the planner: %v", err)
	}
	return answer
}

// Sweep sweeps once.
func (s *Stage) Sweep() error {
	_, err := s.Plan(wire.Trigger{Version: wire.Version, Action: wire.ActionSweep})
	return err
}

// Ref is the reference to run n that its messages carry now.
func (s *Stage) Ref(n int) wire.RunRef {
	r := s.Run(n)
	return wire.RunRef{Export: r.Export, RunID: r.RunID, Generation: r.Gen, PlanFingerprint: r.PlanFingerprint, Root: r.Root}
}

// Extract calls a worker for a task of run n, by a message of this moment.
func (s *Stage) Extract(n int, task contract.TaskID) (wire.Outcome, error) {
	return chunk.Handle(s.T.Context(), (&Process{Stage: s}).Chunk(), wire.ChunkTask{Version: wire.Version, Run: s.Ref(n), Task: task})
}

// Finalize calls a finalizer for run n, by a message of this moment.
func (s *Stage) Finalize(n int) (wire.Outcome, error) {
	return finalizer.Handle(s.T.Context(), (&Process{Stage: s}).Finalizer(), wire.FinalizeTask{Version: wire.Version, Run: s.Ref(n)})
}

// Deliver hands the next message of a queue to its function and settles it.
// dies, if not nil, may end the process, and the message then comes back.
func (s *Stage) Deliver(queue string, dies func(op string) (dies, landed bool)) bool {
	s.T.Helper()
	d, ok, err := s.Queues.TryReceive(queue)
	if err != nil {
		s.T.Fatal(err)
	}
	if !ok {
		return false
	}
	p := &Process{Stage: s, Dies: dies}
	var out wire.Outcome
	if queue == wire.FinalizeQueue {
		out, _ = finalizer.Handle(s.T.Context(), p.Finalizer(), decoded[wire.FinalizeTask](s, d.Body))
	} else {
		out, _ = chunk.Handle(s.T.Context(), p.Chunk(), decoded[wire.ChunkTask](s, d.Body))
	}
	switch {
	case p.dead: // the message comes back when its visibility time has passed
	case out.Kind == wire.Retry:
		err = s.Queues.Nack(s.T.Context(), d, time.Duration(out.AfterSeconds)*time.Second)
	default:
		err = s.Queues.Ack(s.T.Context(), d)
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return true
}

func decoded[M wire.ChunkTask | wire.FinalizeTask](s *Stage, body []byte) M {
	m, err := wire.Decode[M](body)
	if err != nil {
		s.T.Fatal(err)
	}
	return m
}

// Drain delivers what is due, until nothing is.
func (s *Stage) Drain() { s.DrainDying(nil) }

// DrainDying is Drain with processes that may die.
func (s *Stage) DrainDying(dies func(op string) (dies, landed bool)) {
	s.T.Helper()
	for range 500 {
		chunks, finals := s.Deliver(ChunkQueue, dies), s.Deliver(wire.FinalizeQueue, dies)
		if !chunks && !finals {
			return
		}
	}
	s.T.Fatal("the messages do not end")
}

// Settle lets queue and sweep work until the runs have ended.
func (s *Stage) Settle(runs ...int) {
	s.T.Helper()
	for range 200 {
		s.Drain()
		ended := true
		for _, n := range runs {
			r := s.Run(n)
			ended = ended && r.Status.Terminal() && (r.Status != runstate.RunSucceeded || r.Notified)
		}
		if ended {
			return
		}
		s.Time = s.Time.Add(time.Minute)
		if err := s.Sweep(); err != nil {
			s.T.Logf("sweep: %v", err)
		}
	}
	for _, n := range runs {
		s.T.Logf("run %d: %+v", n, s.Run(n))
	}
	s.T.Fatal("the runs do not end")
}

// DropMessages empties the queues.
func (s *Stage) DropMessages() {
	for _, queue := range []string{ChunkQueue, wire.FinalizeQueue, wire.ValidateQueue} {
		for _, m := range s.Queues.Pending(queue) {
			s.Queues.Drop(queue, m.ID)
		}
	}
}

// ExpireLeases lets the clock run until every lease of a dead process has ended.
func (s *Stage) ExpireLeases() { s.Time = s.Time.Add(20 * time.Minute) }
