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
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	destfaulty "github.com/lapstrake/lapstrake/shared/destination/faulty"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	tablefaulty "github.com/lapstrake/lapstrake/shared/runstate/faulty"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
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

// Process is one invocation of a handler: its calls go through it, and after
// its death it sees nothing.
type Process struct {
	*Stage
	// Dies is called before every call; true ends the process in it. landed says
	// whether the call is made all the same.
	Dies func(op string) (dies, landed bool)
	dead bool
	// turns is for what a process does side by side, calls to the bucket and the
	// listing of shards: Around sees one at a time.
	turns sync.Mutex
}

func (p *Process) call(op string, perform func() error) error {
	p.mu.Lock()
	dead, dies, landed := p.dead, false, false
	if !dead && p.Dies != nil {
		dies, landed = p.Dies(op)
		p.dead = dies
	}
	p.mu.Unlock()
	switch {
	case dead, dies && !landed:
		return ErrDead
	case dies:
		_ = perform() // nobody lives to see the answer
		return ErrDead
	case p.Around != nil:
		return p.Around(op, perform)
	}
	return perform()
}

// Notify implements [notify.Notifier]: the dead tell nobody.
func (p *Process) Notify(ctx context.Context, e notify.Event) error {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead {
		return ErrDead
	}
	return p.Stage.Notify(ctx, e)
}

// Open implements [destination.Opener].
func (p *Process) Open(context.Context, wire.Location) (destination.Store, error) {
	return destfaulty.Wrap(p.Bucket, destfaulty.FaultFunc(func(c destfaulty.Call, perform func() error) error {
		p.turns.Lock()
		defer p.turns.Unlock()
		return p.call(c.String(), perform)
	})), nil
}

func (p *Process) table() runstate.Table {
	return tablefaulty.Wrap(p.Table, tablefaulty.HookFunc(func(_ context.Context, c tablefaulty.Call, do func() error) error {
		if c.Op == "ListChunks" {
			p.turns.Lock()
			defer p.turns.Unlock()
		}
		return p.call(strings.TrimSpace(c.Op+" "+string(c.Task)), do)
	}))
}

// Send implements [taskqueue.Queue].
func (p *Process) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	return p.call("send "+queue, func() error { return p.Queues.Send(ctx, queue, messages...) })
}

var (
	silent  = slog.New(slog.DiscardHandler)
	formats = map[string]partfile.Format{"csv": Lines{}}
)

// Planner is what a planner works with.
func (p *Process) Planner() planner.Deps {
	settings := planner.DefaultSettings()
	settings.PutConcurrency = 1
	return planner.Deps{
		Configs: p, Destinations: p, State: p.table(), Queue: p, Sources: p.DB, Formats: formats,
		Notifier: p, Clock: p, IDs: p, Log: silent, Settings: settings,
	}
}

// Finalizer is what a finalizer works with.
func (p *Process) Finalizer() finalizer.Deps {
	return finalizer.Deps{Destinations: p, State: p.table(), Queue: p, Notifier: p, Clock: p, IDs: p, Log: silent}
}

// Chunk is what a worker works with.
func (p *Process) Chunk() chunk.Deps {
	return chunk.Deps{
		Destinations: p, State: p.table(), Queue: p, Sources: p.DB, Formats: formats, Clock: p, IDs: p, Log: silent,
		Worker: "w", Lease: 3 * time.Minute, Heartbeat: time.Minute,
	}
}

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

// Run is the item of run n.
func (s *Stage) Run(n int) runstate.Run {
	s.T.Helper()
	r, err := s.Table.GetRun(s.T.Context(), s.RunID(n))
	if err != nil {
		s.T.Fatalf("run %d: %v", n, err)
	}
	return r
}

// Task is the item of a task of run n.
func (s *Stage) Task(n int, id contract.TaskID) runstate.Chunk {
	s.T.Helper()
	c, err := s.Table.GetChunk(s.T.Context(), s.RunID(n), id)
	if err != nil {
		s.T.Fatalf("task %s: %v", id, err)
	}
	return c
}

// Tasks are the items of all tasks of run n.
func (s *Stage) Tasks(n int) []runstate.Chunk {
	s.T.Helper()
	all, err := dispatch.AllChunks(s.T.Context(), s.Table, s.Run(n))
	if err != nil {
		s.T.Fatal(err)
	}
	return all
}

// Fence is the export's fence document.
func (s *Stage) Fence() contract.CursorDocument {
	s.T.Helper()
	doc, err := contract.DecodeCursor(s.Body(contract.CursorKey("orders")))
	if err != nil {
		s.T.Fatal(err)
	}
	return doc
}

// Body returns an object, or nil.
func (s *Stage) Body(key string) []byte {
	s.T.Helper()
	body, _, err := s.Bucket.Get(s.T.Context(), key, 1<<20)
	if errors.Is(err, destination.ErrNotFound) {
		return nil
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return body
}

// Put stores an object, over whatever is there.
func (s *Stage) Put(key, body string) {
	s.T.Helper()
	_, v, err := s.Bucket.Get(s.T.Context(), key, 1<<20)
	if err != nil && !errors.Is(err, destination.ErrNotFound) {
		s.T.Fatal(err)
	}
	if _, err := s.Bucket.Replace(s.T.Context(), key, v, []byte(body), destination.Meta{}); err != nil {
		s.T.Fatal(err)
	}
}

// Lose moves an object out of sight, as an operator or a rule of the bucket
// deletes it.
func (s *Stage) Lose(key string) {
	s.T.Helper()
	s.move(key, "lost/"+key)
}

// Restore brings back what Lose took.
func (s *Stage) Restore(key string) {
	s.T.Helper()
	s.move("lost/"+key, key)
}

func (s *Stage) move(from, to string) {
	s.T.Helper()
	o, err := s.Bucket.Head(s.T.Context(), from)
	if err == nil {
		err = s.Bucket.Move(s.T.Context(), from, to, o.Version)
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

// Keys lists what is below a prefix.
func (s *Stage) Keys(prefix string) []string {
	s.T.Helper()
	var keys []string
	if err := s.Bucket.List(s.T.Context(), prefix, func(o destination.Object) error {
		keys = append(keys, o.Key)
		return nil
	}); err != nil {
		s.T.Fatal(err)
	}
	return keys
}

// Manifest is the manifest at key, or a zero one.
func (s *Stage) Manifest(key string) contract.Manifest {
	s.T.Helper()
	body := s.Body(key)
	if body == nil {
		return contract.Manifest{}
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		s.T.Fatalf("%s: %v", key, err)
	}
	return m
}

// WantPublished fails the test unless manifest, sidecar and marker of run n are
// one set, and what they list is the table, each row once.
func (s *Stage) WantPublished(when string, n int) contract.Manifest {
	s.T.Helper()
	body := s.Body("out/" + contract.ManifestName)
	if string(body) != string(s.Body(s.Sidecar(n))) {
		s.T.Fatalf("%s: manifest and sidecar of run %d are two", when, n)
	}
	if marker := s.Body("out/" + contract.SuccessName); string(marker) != string(contract.SuccessBody(body)) {
		s.T.Fatalf("%s: the marker %q does not fit the manifest", when, marker)
	}
	return s.WantRows(when, body)
}

// WantRows fails the test unless a manifest is a success whose parts hold the
// table, each row once.
func (s *Stage) WantRows(when string, manifest []byte) contract.Manifest {
	s.T.Helper()
	m, err := contract.DecodeManifest(manifest)
	if err != nil || m.Status != contract.StatusSuccess {
		s.T.Fatalf("%s: manifest with status %q: %v", when, m.Status, err)
	}
	rows := make(map[string]int)
	for _, p := range m.Parts {
		body := s.Body("out/" + p.Path)
		if contract.FingerprintOf(body) != p.ContentFingerprint || int64(len(body)) != p.SizeBytes {
			s.T.Fatalf("%s: part %s is not as the manifest says", when, p.Path)
		}
		for line := range strings.Lines(string(body)) {
			rows[strings.TrimSpace(line)]++
		}
	}
	for i := int64(1); i <= s.DB.Rows; i++ {
		if rows[fmt.Sprint(i)] != 1 {
			s.T.Fatalf("%s: row %d is there %d times", when, i, rows[fmt.Sprint(i)])
		}
	}
	if int64(len(rows)) != s.DB.Rows {
		s.T.Fatalf("%s: %d different rows, want %d", when, len(rows), s.DB.Rows)
	}
	return m
}
