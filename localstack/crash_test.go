package localstack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// gatedOrders is a view that stops a reader at one row for as long as somebody
// holds the gate. The function is called stable, which it is not, so that rows
// before the gate are on their way when the reader stops.
const gatedOrders = `create function %[1]s.gate(id bigint, key bigint) returns bigint language plpgsql stable as
$$ begin if id = 1900 then perform pg_advisory_xact_lock_shared(key); end if; return id; end $$;
create view %[1]s.gated as select id, note, price, at, paid, raw, ratio, day from (select o.*, %[1]s.gate(id, %[2]d) as passed from %[1]s.orders o) g where passed = id`

const gatedConfig = `
source:
  type: postgres
  url: secretsmanager://STACK/in-order
  tls: { mode: disable }
exports:
  - name: orders
    table: SCHEMA.gated
    mode: chunked
    chunk_column: id
    chunk_count: 4
    format: parquet
    max_file_size: 16KB
    tuning: { batch_size: 100, lock_timeout_s: 300 }
    destination: { type: s3, bucket: BUCKET, prefix: exports/orders }
`

func TestAKilledFunctionLosesAndDoublesNothing(t *testing.T) {
	for _, tc := range []struct {
		name       string
		visibility time.Duration
		sweep      bool // as the reaper does
	}{
		{"found by the sweep, long before the queue delivers again", 6 * time.Minute, true},
		{"delivered again by the queue, without a sweep", 15 * time.Second, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := deploy(t, func(o *cloud.Options) { o.Visibility = tc.visibility })
			w.makeOrders(8_000)
			open := w.closeGate()
			w.inOrder()
			id := w.start(w.trigger("orders", w.config(gatedConfig)))
			stopped := w.stopped(id)
			w.kill(stopped.Worker)
			open()
			if tc.sweep {
				defer w.keepSweeping()()
			}
			run := w.await(id)
			if run.Status != runstate.RunSucceeded || run.Outcome.Rows != 8_000 {
				t.Fatalf("the run ended as %+v", run)
			}
			for _, c := range w.chunks(run) {
				want := 1
				if c.ID == stopped.ID {
					want = 2
				}
				if c.Attempts != want || c.Status != runstate.ChunkCompleted {
					t.Errorf("task %s is %s after %d attempts, want %d", c.ID, c.Status, c.Attempts, want)
				}
			}
			w.wantPublished(ordersPrefix)
			if doc := w.verdict(ordersPrefix, id); doc.Verdict != verify.Passed || doc.UntrackedObjects != 0 {
				t.Errorf("the verdict is %+v", doc)
			}
		})
	}
}

// A failed attempt hands its message back for the time that it asks for, which
// is far shorter than the queue's visibility time.
func TestAPassingFailureIsTriedAgainSoon(t *testing.T) {
	w := deploy(t, func(o *cloud.Options) { o.Visibility = 2 * patience })
	w.makeOrders(2_000)
	open := w.closeGate()
	w.inOrder()
	id := w.start(w.trigger("orders", w.config(strings.Replace(gatedConfig, "lock_timeout_s: 300", "lock_timeout_s: 2, retry_backoff_ms: 1000", 1))))
	var failed runstate.Chunk
	w.eventually("a failed attempt", func() (bool, error) {
		run, err := w.table.GetRun(t.Context(), id)
		if err != nil {
			return false, err
		}
		for _, c := range w.chunks(run) {
			if c.Error != nil {
				failed = c
			}
		}
		return failed.Error != nil, nil
	})
	if failed.Error.Code != "LAPSTRAKE_SOURCE_LOCK_TIMEOUT" {
		t.Errorf("the attempt failed with %+v", failed.Error)
	}
	open()
	if run := w.await(id); run.Status != runstate.RunSucceeded || run.Outcome.Rows != 2_000 {
		t.Fatalf("the run ended as %+v", run)
	}
	w.wantPublished(ordersPrefix)
	w.eventually("empty queues", w.drained)
}

func TestAFailedRunIsResumed(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(8_000)
	open := w.closeGate()
	w.inOrder()
	config := strings.NewReplacer("lock_timeout_s: 300", "lock_timeout_s: 1", "chunk_count: 4", "chunk_count: 4\n    chunk_max_attempts: 1").Replace(gatedConfig)
	id := w.start(w.trigger("orders", w.config(config)))
	failed := w.await(id)
	if failed.Status != runstate.RunFailed || failed.Error == nil || failed.Error.Code != "LAPSTRAKE_SOURCE_LOCK_TIMEOUT" {
		t.Fatalf("the run ended as %+v", failed)
	}
	open()
	got, err := w.Trigger(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: id})
	if err != nil || got.RunID != id || got.Status != wire.Started {
		t.Fatalf("the resume answered %+v, %v", got, err)
	}
	run := w.await(id)
	if run.Status != runstate.RunSucceeded || run.Outcome.Rows != 8_000 || run.Gen != failed.Gen+1 {
		t.Fatalf("the resumed run ended as %+v", run)
	}
	kept := 0
	for _, c := range w.chunks(run) {
		if c.Gen == failed.Gen {
			kept++
		}
	}
	if kept != run.TaskCount-1 {
		t.Errorf("%d of %d chunks were kept, want all but the failed one", kept, run.TaskCount)
	}
	w.wantPublished(ordersPrefix)
	if doc := w.verdict(ordersPrefix, id); doc.Verdict != verify.Passed || doc.UntrackedObjects != 0 {
		t.Errorf("the verdict is %+v", doc)
	}
}

// closeGate makes the view, and holds its gate until open is called.
func (w *world) closeGate() (open func()) {
	w.t.Helper()
	key := (clock.System{}).Now().UnixNano()
	w.exec(fmt.Sprintf(gatedOrders, w.schema, key))
	holder, err := w.db.Acquire(w.t.Context())
	if err == nil {
		_, err = holder.Exec(w.t.Context(), "select pg_advisory_lock($1)", key)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	released := false
	open = func() {
		if released {
			return
		}
		released = true
		if _, err := holder.Exec(context.Background(), "select pg_advisory_unlock($1)", key); err != nil {
			w.t.Error(err)
		}
		holder.Release()
	}
	w.t.Cleanup(open)
	return open
}

// inOrder stores a URL of the database that makes it read by the index, so that
// rows come while it reads.
func (w *world) inOrder() {
	w.t.Helper()
	url := w.db.Config().ConnString()
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	w.secret("in-order", url+separator+"options=-c%20enable_sort%3Doff%20-c%20enable_seqscan%3Doff%20-c%20enable_bitmapscan%3Doff")
}

// stopped waits until a worker stands at the gate with some of its parts
// stored, and all others have done their work, and returns its task.
func (w *world) stopped(id contract.RunID) runstate.Chunk {
	w.t.Helper()
	var at runstate.Chunk
	w.eventually("a worker at the gate", func() (bool, error) {
		run, err := w.table.GetRun(w.t.Context(), id)
		if err != nil {
			return false, err
		}
		completed, seen := 0, ""
		for _, c := range w.chunks(run) {
			seen += fmt.Sprintf(" %s %s", c.ID, c.Status)
			switch c.Status {
			case runstate.ChunkCompleted:
				completed++
			case runstate.ChunkRunning:
				at = c
			}
		}
		if completed != run.TaskCount-1 || at.Worker == "" {
			return false, fmt.Errorf("tasks:%s", seen)
		}
		name := contract.PartNaming{Generation: at.Gen, Plain: true, Ext: "parquet"}.Name(at.ID, 0)
		for _, key := range w.keys(ordersPrefix + "/") {
			if strings.HasSuffix(key, name) {
				return true, nil
			}
		}
		return false, fmt.Errorf("no %s, tasks:%s", name, seen)
	})
	return at
}

// keepSweeping calls the planner as the reaper's schedule does, every two
// seconds, until stop.
func (w *world) keepSweeping() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-(clock.System{}).After(2 * time.Second):
			}
			if err := w.Sweep(ctx); err != nil && ctx.Err() == nil {
				w.t.Errorf("sweep: %v", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
