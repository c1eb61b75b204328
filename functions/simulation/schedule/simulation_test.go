package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/functions/validator"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	destfaulty "github.com/lapstrake/lapstrake/shared/destination/faulty"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/csv"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/faulty"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const (
	chunkLease = 3 * time.Minute
	// planTimeout is when every lease of a dead planner, run and worker has
	// ended.
	planTimeout = 20 * time.Minute
	// batchTime is how long a batch takes where tasks split.
	batchTime = 13 * time.Second
)

var (
	chunkQueue = wire.ChunkQueue("default")
	queueNames = []string{chunkQueue, wire.FinalizeQueue, wire.ValidateQueue}
	quiet      = slog.New(slog.DiscardHandler)
	formats    = map[string]partfile.Format{"csv": csv.Format, "parquet": parquet.Format}
	firstTime  = time.Date(2126, 11, 29, 12, 0, 0, 0, time.UTC)
)

// simulation is one world, the processes in it and what has happened.
type simulation struct {
	ctx    context.Context
	top    topology
	source *relation
	bucket *destmemory.Store
	table  *memory.Table
	queues *inprocess.Queues
	labels map[string]string // of messages, by id
	plans  *chunk.Plans      // that workers keep; nil in a world whose every worker is new
	now    time.Time
	check  *checker

	mu        sync.Mutex
	born      int // the highest number of a process
	newest    int // the highest number of a run that was triggered
	processes []*process
	waiting   []*call
	late      []*call // requests that may still land
	deaths    int
	asleep    map[int]bool

	// faults counts what was done to the runs: a run of a simulation without
	// any has no excuse.
	faults, damages, tableLosses, restores, cursorLosses, copies int
	validated                                                    bool
	// lostCursor is the fence document that an operator deleted, lostParts
	// what an operator damaged.
	lostCursor []byte
	backup     func() // puts back the table as it was backed up last
	lostParts  map[string]object
	documents  [][]byte                // every fence document that was written
	anew       map[contract.RunID]bool // runs that may make a new one

	// direct, if set, performs every call at once.
	direct func(p *process, c call) error

	decisions []decision // those that applied
	tracing   bool
	trace     []string
	calls     int
	seen      map[string]bool // what has happened: see coverage_test.go
}

func newSimulation(ctx context.Context, seed int) *simulation {
	s := newWorld(ctx, draw(seed, rand.New(rand.NewPCG(uint64(seed), 1))))
	s.validated = seed%3 == 0
	return s
}

// newWorld is a simulation of a topology, in which nothing has happened yet.
func newWorld(ctx context.Context, t topology) *simulation {
	s := &simulation{
		ctx: ctx, top: t, now: firstTime,
		labels: make(map[string]string), asleep: make(map[int]bool), lostParts: make(map[string]object), anew: make(map[contract.RunID]bool), seen: make(map[string]bool),
	}
	s.sawTopology()
	s.source = newRelation(s.top)
	s.bucket = destmemory.New("memory://bucket", s.top.like)
	s.table = memory.NewSharded(s.top.fanin)
	s.queues = inprocess.New(s, inprocess.Settings{Visibility: 6 * time.Minute}, queueNames...)
	s.check = newChecker(s)
	return s
}

// Now and After make the simulation the clock of the queues.
func (s *simulation) Now() time.Time                       { return s.now }
func (s *simulation) After(time.Duration) <-chan time.Time { return nil }

func runTime(id int) time.Time { return firstTime.Add(time.Duration(id) * time.Second) }

func runID(id int) contract.RunID { return contract.NewRunID("orders", runTime(id)) }

// Load implements [planner.ConfigLoader].
func (s *simulation) Load(context.Context, string, map[string]string) (exportconfig.Config, error) {
	return exportconfig.Config{
		Source:  exportconfig.Source{Name: "default", Type: "postgres"},
		Exports: []exportconfig.Export{s.top.export},
	}, nil
}

// destinations opens the bucket as one process sees it.
func (p *process) destinations() destination.Opener {
	bucket := destfaulty.Wrap(p.s.bucket, destfaulty.FaultFunc(func(c destfaulty.Call, perform func() error) error {
		return p.call(call{op: c.String(), write: c.Write > 0, bucket: true, perform: func() error {
			err := perform()
			if err == nil && c.Write > 0 {
				p.s.check.object(p, c)
			}
			p.sawObject(c, err)
			return err
		}})
	}))
	return destination.OpenerFunc(func(context.Context, wire.Location) (destination.Store, error) { return bucket, nil })
}

// state is the table as one process sees it.
func (p *process) state() runstate.Table {
	return faulty.Wrap(p.s.table, faulty.HookFunc(func(_ context.Context, c faulty.Call, do func() error) error {
		op := c.Op
		if c.Run != "" {
			op += " " + short(c.Run)
		}
		if c.Task != "" {
			op += "/" + string(c.Task)
		}
		if c.Node != 0 {
			op += fmt.Sprintf(" node %d", c.Node)
		}
		write := !strings.HasPrefix(c.Op, "Get") && !strings.HasPrefix(c.Op, "List")
		return p.call(call{op: op, write: write, perform: func() error {
			err := do()
			if err == nil && write {
				p.s.check.item(p, c)
			}
			if errors.Is(err, runstate.ErrCondition) {
				p.s.saw("refused: " + c.Op)
			}
			return err
		}})
	}))
}

// Send implements [taskqueue.Queue].
func (p *process) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	return p.call(call{op: "send " + queue, write: true, perform: func() error { return p.s.queues.Send(ctx, queue, messages...) }})
}

// Notify implements [notify.Notifier].
func (p *process) Notify(_ context.Context, e notify.Event) error {
	return p.call(call{op: "notify " + short(e.RunID), write: true, told: true, perform: func() error {
		p.s.check.notified(p, e)
		return nil
	}})
}

// plan is an invocation of the planner.
func (p *process) plan(ctx context.Context, t wire.Trigger) (string, error) {
	settings := planner.DefaultSettings()
	settings.Budget = p.s.top.budget
	answer, err := planner.Handle(ctx, planner.Deps{
		Configs: p.s, Destinations: p.destinations(), State: p.state(), Queue: p, Sources: p, Formats: formats,
		Notifier: p, Clock: p, IDs: p, Log: quiet, Settings: settings,
	}, t)
	return fmt.Sprintf("%s %s", answer.Status, answer.Reason), err
}

// receive is an invocation with a message, which it settles unless it dies.
func (p *process) receive(ctx context.Context, d taskqueue.Delivery) (string, error) {
	var out wire.Outcome
	var err error
	switch d.Queue {
	case chunkQueue:
		var m wire.ChunkTask
		if m, err = wire.Decode[wire.ChunkTask](d.Body); err != nil {
			return "", err
		}
		if p.s.top.budget > 0 {
			limited, cancel := context.WithDeadline(ctx, p.Now().Add(p.s.top.budget))
			defer cancel()
			ctx = limited
		}
		out, err = chunk.Handle(ctx, chunk.Deps{
			Destinations: p.destinations(), State: p.state(), Queue: p, Sources: p, Formats: formats, Clock: p, IDs: p, Log: quiet,
			Plans: p.s.plans, Worker: fmt.Sprint(p.id), Lease: chunkLease, Heartbeat: time.Minute,
		}, m)
	case wire.FinalizeQueue:
		var m wire.FinalizeTask
		if m, err = wire.Decode[wire.FinalizeTask](d.Body); err != nil {
			return "", err
		}
		out, err = finalizer.Handle(ctx, finalizer.Deps{Destinations: p.destinations(), State: p.state(), Queue: p, Notifier: p, Clock: p, IDs: p, Log: quiet}, m)
	default:
		var m wire.ValidateTask
		if m, err = wire.Decode[wire.ValidateTask](d.Body); err != nil {
			return "", err
		}
		out, err = validator.Handle(ctx, validator.Deps{Destinations: p.destinations(), Notifier: p, Clock: p, Log: quiet}, m)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	switch {
	case p.dead: // the message comes back when its visibility time has passed
		p.s.saw("a message outlives its process")
		return "", nil
	case out.Kind == wire.Ack:
		return out.Detail, orError(p.s.queues.Ack(p.s.ctx, d), err)
	case out.Kind == wire.Fatal: // after its last delivery it is a dead letter
		return out.Detail, orError(p.s.queues.Nack(p.s.ctx, d, time.Hour), err)
	}
	return out.Detail, orError(p.s.queues.Nack(p.s.ctx, d, time.Duration(out.AfterSeconds)*time.Second), err)
}

func orError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// announce sends what a bucket sends when a marker appears in it: the event
// that the validator works on. One simulation in three has a validator.
func (s *simulation) announce(prefix string) {
	if !s.validated {
		return
	}
	body, err := json.Marshal(wire.ValidateTask{Version: wire.Version, Root: s.top.export.Destination, Prefix: prefix})
	if err == nil {
		err = s.queues.Send(s.ctx, wire.ValidateQueue, taskqueue.Message{Body: body})
	}
	if err != nil {
		panic(err)
	}
}

// label says what a message is, the same for every copy of it.
func (s *simulation) label(m inprocess.Stored) string {
	if l, known := s.labels[m.ID]; known {
		return l
	}
	l := string(m.Body)
	if t, err := wire.Decode[wire.ChunkTask](m.Body); err == nil && t.Task != "" {
		l = fmt.Sprintf("chunk %s of %s generation %d", t.Task, t.Run.RunID, t.Run.Generation)
	} else if t, err := wire.Decode[wire.FinalizeTask](m.Body); err == nil {
		l = fmt.Sprintf("finalize %s generation %d", t.Run.RunID, t.Run.Generation)
	} else if t, err := wire.Decode[wire.ValidateTask](m.Body); err == nil {
		l = "validate " + t.Prefix
	}
	s.labels[m.ID] = l
	return l
}
