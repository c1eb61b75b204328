package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/faulty"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// run has five planned tasks, two a shard.
var run = runstate.Run{
	RunID: "r1", Export: "orders", Gen: 3, PlanFingerprint: "xxh3:00000000000000aa", Shards: 3,
	Root: wire.Location{Kind: "memory", URI: "memory://b"},
}

// ref is how messages name the run.
var ref = wire.RunRef{Export: "orders", RunID: "r1", Generation: 3, PlanFingerprint: "xxh3:00000000000000aa", Root: wire.Location{Kind: "memory", URI: "memory://b"}}

// outbox is a queue that keeps what is sent, as "queue subject".
type outbox struct {
	sent   []string
	groups []string
	fail   error
}

func (o *outbox) Send(_ context.Context, queue string, messages ...taskqueue.Message) error {
	if o.fail != nil {
		return o.fail
	}
	for _, m := range messages {
		var body struct {
			Version int             `json:"version"`
			Run     wire.RunRef     `json:"run"`
			Task    contract.TaskID `json:"task"`
			Prefix  string          `json:"prefix"`
		}
		if err := json.Unmarshal(m.Body, &body); err != nil {
			return err
		}
		if body.Version != wire.Version || body.Prefix == "" && body.Run != ref {
			return fmt.Errorf("a message that no function takes: %s", m.Body)
		}
		o.sent = append(o.sent, strings.TrimSpace(queue+" "+string(body.Task)+body.Prefix))
		o.groups = append(o.groups, m.Group)
	}
	return nil
}

// planned is a table with the run's fan-in tree.
func planned(t *testing.T) *memory.Table {
	t.Helper()
	table := memory.NewSharded(2)
	for shard, expected := range map[int]int{runstate.RootShard: 3, 0: 2, 1: 2, 2: 1} {
		if err := table.PutFanin(t.Context(), runstate.Fanin{RunID: run.RunID, Shard: shard, Expected: expected}); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// pending puts a task that nobody has taken.
func pending(t *testing.T, table *memory.Table, id contract.TaskID) {
	t.Helper()
	c := runstate.Chunk{RunID: run.RunID, ID: id, Status: runstate.ChunkPending, Gen: run.Gen, Range: keyspace.Range{All: true}, MaxAttempts: 3, CreatedAt: now, ChangedAt: now}
	if err := table.PutChunk(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func completed(id contract.TaskID) runstate.Chunk {
	return runstate.Chunk{RunID: run.RunID, ID: id, Status: runstate.ChunkCompleted}
}

func joined(t *testing.T, table *memory.Table, shard int) string {
	t.Helper()
	node, err := table.GetFanin(t.Context(), run.RunID, shard)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(node.Done, " ")
}

// A message names its run, is of its export's group, and goes to the queue of
// its function; one that could not be sent is told by what it was.
func TestMessages(t *testing.T) {
	for _, tc := range []struct {
		name string
		send func(ctx context.Context, d dispatch.Dispatcher) error
		want []string
	}{
		{"2 tasks of run r1", func(ctx context.Context, d dispatch.Dispatcher) error {
			return d.SendChunks(ctx, "chunks", dispatch.Ref(run), "000000", "000004")
		}, []string{"chunks 000000", "chunks 000004"}},
		{"the finalization of run r1", func(ctx context.Context, d dispatch.Dispatcher) error {
			return d.SendFinalize(ctx, dispatch.Ref(run))
		}, []string{wire.FinalizeQueue}},
		{`the validation of export "orders"`, func(ctx context.Context, d dispatch.Dispatcher) error {
			return d.SendValidate(ctx, run.Export, run.Root, "out/")
		}, []string{wire.ValidateQueue + " out/"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			box := &outbox{}
			if err := tc.send(t.Context(), dispatch.Dispatcher{Queue: box}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, box.sent); d != "" || slices.ContainsFunc(box.groups, func(g string) bool { return g != "orders" }) {
				t.Errorf("groups %v (-want +got):\n%s", box.groups, d)
			}
			box.fail = errors.New("full")
			if err := tc.send(t.Context(), dispatch.Dispatcher{Queue: box}); !errors.Is(err, box.fail) || !strings.Contains(err.Error(), tc.name) {
				t.Errorf("%v", err)
			}
		})
	}
}

// What a completed task passes on: its place in the leaf; the leaf's in the
// root, once the leaf is full; the finalization, once the root is. A node that
// joins again counts once.
func TestJoin(t *testing.T) {
	table, box := planned(t), &outbox{}
	d := dispatch.Dispatcher{State: table, Queue: box}
	for _, step := range []struct {
		task       contract.TaskID
		leaf, root string
		sent       int
	}{
		{task: "000000", leaf: "000000"},
		{task: "000000", leaf: "000000"},
		{task: "000004", leaf: "000004", root: "2"},
		{task: "000004", leaf: "000004", root: "2"},
		{task: "000001", leaf: "000000 000001", root: "0 2"},
		{task: "000003", leaf: "000003", root: "0 2"},
		{task: "000002", leaf: "000002 000003", root: "0 1 2", sent: 1},
		{task: "000001", leaf: "000000 000001", root: "0 1 2", sent: 2},
	} {
		if err := d.Completed(t.Context(), dispatch.Ref(run), "chunks", completed(step.task)); err != nil {
			t.Fatal(err)
		}
		leaf, root := joined(t, table, runstate.ShardOf(step.task, 2)), joined(t, table, runstate.RootShard)
		if leaf != step.leaf || root != step.root || len(box.sent) != step.sent {
			t.Fatalf("after %s: leaf %q, root %q, sent %v", step.task, leaf, root, box.sent)
		}
	}
	if box.sent[0] != wire.FinalizeQueue {
		t.Errorf("sent: %v", box.sent)
	}
}

// The process dies in any call that the last task makes, a split one whose child
// is done since or waits; the message comes again, and nothing is missing (V17).
func TestCrashBetweenAnyTwoSteps(t *testing.T) {
	last := completed("000004")
	last.SplitInto = last.ID.SplitChild()
	for _, landed := range []bool{true, false} {
		for n := 0; ; n++ {
			table, box := planned(t), &outbox{}
			for _, id := range []contract.TaskID{"000000", "000001", "000002", "000003"} {
				if err := (dispatch.Dispatcher{State: table, Queue: box}).Completed(t.Context(), dispatch.Ref(run), "chunks", completed(id)); err != nil {
					t.Fatal(err)
				}
			}
			pending(t, table, last.SplitInto)
			crash := &faulty.Crash{After: n, Landed: landed}
			dying := &dyingQueue{outbox: box, crash: crash}
			err := dispatch.Dispatcher{State: faulty.Wrap(table, crash), Queue: dying}.Completed(t.Context(), dispatch.Ref(run), "chunks", last)
			if err == nil {
				if n < 4 {
					t.Fatalf("only %d calls seen: the test no longer tests anything", n)
				}
				break
			}
			if err := (dispatch.Dispatcher{State: table, Queue: box}).Redrive(t.Context(), dispatch.Ref(run), "chunks", last, now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if root := joined(t, table, runstate.RootShard); root != "0 1 2" || !slices.Contains(box.sent, "chunks 000004.s01") || !slices.Contains(box.sent, wire.FinalizeQueue) {
				t.Fatalf("after a crash in call %d, landed %t: root %q, sent %v", n, landed, root, box.sent)
			}
		}
	}
}

// dyingQueue is the queue of a process that dies: its sends count as calls.
type dyingQueue struct {
	*outbox
	crash *faulty.Crash
}

func (q *dyingQueue) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	return q.crash.Around(ctx, faulty.Call{Op: "Send"}, func() error { return q.outbox.Send(ctx, queue, messages...) })
}

// When the message of a split task comes again, its child is sent again only if
// it has waited for long; a child that the table does not know is none.
func TestRedriveOfASplitTask(t *testing.T) {
	deep := contract.TaskID(fmt.Sprintf("000000.s%02d", dispatch.MaxSplitDepth))
	for _, tc := range []struct {
		name  string
		child contract.TaskID
		put   bool
		after time.Duration
		want  []string
	}{
		{name: "its child has waited for long", child: "000000.s01", put: true, after: time.Minute + 1, want: []string{"chunks 000000.s01"}},
		{name: "its child was sent just now", child: "000000.s01", put: true, after: time.Minute},
		{name: "its child is not known", child: "000000.s01", after: time.Hour},
		{name: "the chain is long", child: deep, put: true, after: time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, box := planned(t), &outbox{}
			if tc.put {
				pending(t, table, tc.child)
			}
			c := completed("000000")
			c.SplitInto = tc.child
			if err := (dispatch.Dispatcher{State: table, Queue: box}).Redrive(t.Context(), dispatch.Ref(run), "chunks", c, now.Add(tc.after)); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, box.sent); d != "" || joined(t, table, 0) != "000000" {
				t.Errorf("leaf %q (-want +got):\n%s", joined(t, table, 0), d)
			}
		})
	}
}

// A table that was lost has nothing to be finalized from, which is no failure of
// the task; one that does not answer is.
func TestTableThatIsLostOrSilent(t *testing.T) {
	for _, shards := range [][]int{nil, {2}} { // neither node, or no root
		table, box := memory.NewSharded(2), &outbox{}
		for _, s := range shards {
			if err := table.PutFanin(t.Context(), runstate.Fanin{RunID: run.RunID, Shard: s, Expected: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := (dispatch.Dispatcher{State: table, Queue: box}).Completed(t.Context(), dispatch.Ref(run), "chunks", completed("000004")); err != nil || len(box.sent) > 0 {
			t.Errorf("shards %v: %v, sent %v", shards, err, box.sent)
		}
	}
	last := completed("000004")
	last.SplitInto = last.ID.SplitChild()
	for n := range 3 {
		calls := 0
		table := faulty.Wrap(planned(t), faulty.HookFunc(func(_ context.Context, _ faulty.Call, do func() error) error {
			if calls++; calls == n+1 {
				return faulty.ErrTransient
			}
			return do()
		}))
		err := dispatch.Dispatcher{State: table, Queue: &outbox{}}.Redrive(t.Context(), dispatch.Ref(run), "chunks", last, now)
		if !errors.Is(err, faulty.ErrTransient) {
			t.Errorf("call %d is not answered: %v", n+1, err)
		}
	}
}

// The chunks of a run are those of all its shards, in ascending order; a shard
// that is not answered leaves none.
func TestAllChunks(t *testing.T) {
	table := planned(t)
	want := []contract.TaskID{"000000", "000000.s01", "000001", "000003.r1", "000004"}
	for _, id := range slices.Backward(want) {
		pending(t, table, id)
	}
	chunks, err := dispatch.AllChunks(t.Context(), table, run)
	if err != nil {
		t.Fatal(err)
	}
	var got []contract.TaskID
	for _, c := range chunks {
		got = append(got, c.ID)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for shard := range run.Shards {
		silent := faulty.Wrap(table, faulty.HookFunc(func(_ context.Context, c faulty.Call, do func() error) error {
			if c.Node == shard {
				return faulty.ErrTransient
			}
			return do()
		}))
		if chunks, err := dispatch.AllChunks(t.Context(), silent, run); !errors.Is(err, faulty.ErrTransient) || chunks != nil {
			t.Errorf("shard %d is not answered: %d chunks, %v", shard, len(chunks), err)
		}
	}
}

// A failure is stored with its code and class, and without a secret (SEC-01).
func TestFailureHidesSecrets(t *testing.T) {
	f := dispatch.Failure(fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_AUTH", "cannot open postgres://reader:hunter2@db/shop"))
	if f.Code != "LAPSTRAKE_SOURCE_AUTH" || f.Class != fault.Permanent || strings.Contains(f.Message, "hunter2") || !strings.Contains(f.Message, "db/shop") {
		t.Errorf("%+v", f)
	}
}
