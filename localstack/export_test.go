package localstack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const ordersConfig = `
source:
  type: postgres
  url: SOURCE
  tls: { mode: disable }
exports:
  - name: orders
    table: SCHEMA.orders
    mode: chunked
    chunk_column: id
    chunk_count: 8
    format: parquet
    destination: { type: s3, bucket: BUCKET, prefix: exports/orders }
`

const ordersPrefix = "exports/orders"

func TestOneExportFromTriggerToVerdict(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(20_000)
	trigger := w.trigger("orders", w.config(ordersConfig))
	id := w.start(trigger)
	run := w.await(id)
	if run.Status != runstate.RunSucceeded || run.Verdict != "passed" || run.TaskCount != 8 || run.Outcome == nil || run.Outcome.Rows != 20_000 {
		t.Fatalf("the run ended as %+v", run)
	}
	doc := w.verdict(ordersPrefix, id)
	if doc.Verdict != verify.Passed || doc.RowCount != 20_000 || doc.UntrackedObjects != 0 || doc.ManifestFingerprint != run.Outcome.ManifestFingerprint {
		t.Errorf("the verdict is %+v", doc)
	}
	w.wantPublished(ordersPrefix)
	w.wantNothingOnDisk()

	t.Run("the same trigger again answers what is there", func(t *testing.T) {
		got, err := w.Trigger(t.Context(), trigger)
		if err != nil || got.Status != wire.Succeeded || got.RunID != id || got.Chunks != 8 {
			t.Errorf("answered %+v, %v", got, err)
		}
	})

	t.Run("messages delivered again change nothing", func(t *testing.T) {
		before := w.keys(ordersPrefix)
		w.sendAgain(run)
		w.eventually("empty queues", w.drained)
		if after := w.keys(ordersPrefix); !slices.Equal(before, after) {
			t.Errorf("objects before: %v\nafter: %v", before, after)
		}
		if again := w.await(id); again.Outcome.ManifestFingerprint != run.Outcome.ManifestFingerprint {
			t.Errorf("the manifest is now %s, was %s", again.Outcome.ManifestFingerprint, run.Outcome.ManifestFingerprint)
		}
		w.verdict(ordersPrefix, id)
		w.wantPublished(ordersPrefix)
	})

	t.Run("a verdict that is asked for again is there", func(t *testing.T) {
		ask := trigger
		ask.Action = wire.ActionValidate
		if got, err := w.Trigger(t.Context(), ask); err != nil || got.Status != wire.Started {
			t.Errorf("answered %+v, %v", got, err)
		}
		w.eventually("empty queues", w.drained)
		w.verdict(ordersPrefix, id)
	})

	t.Run("a later run replaces what is published", func(t *testing.T) {
		w.exec("update " + w.schema + ".orders set note = 'changed' where id = 4711")
		w.exec("delete from " + w.schema + ".orders where id = 20000")
		next := w.start(w.trigger("orders", w.config(ordersConfig)))
		if run := w.await(next); run.Status != runstate.RunSucceeded {
			t.Fatalf("the run ended as %+v", run)
		}
		w.wantPublished(ordersPrefix)
		if doc := w.verdict(ordersPrefix, next); doc.Verdict != verify.Passed {
			t.Errorf("the verdict is %+v", doc)
		}
	})
}

// sendAgain delivers every message of a run once more.
func (w *world) sendAgain(run runstate.Run) {
	w.t.Helper()
	send := func(queue string, m any) {
		body, err := json.Marshal(m)
		if err == nil {
			err = w.Send(w.t.Context(), queue, body)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	ref := dispatch.Ref(run)
	for i := range run.TaskCount {
		send(run.Queue, wire.ChunkTask{Version: wire.Version, Run: ref, Task: contract.BaseTaskID(i)})
	}
	send(wire.FinalizeQueue, wire.FinalizeTask{Version: wire.Version, Run: ref})
}

// drained reports whether no message is left anywhere, dead ones included.
func (w *world) drained() (bool, error) {
	for queue := range w.QueueURLs {
		n, err := w.Waiting(w.t.Context(), queue)
		if err != nil || n > 0 {
			return false, err
		}
	}
	return true, nil
}

func TestTwiceAtTheSameTime(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(5_000)
	trigger := w.trigger("orders", w.config(ordersConfig))
	answers := make(chan error, 2)
	for range cap(answers) {
		go func() {
			_, err := w.Trigger(t.Context(), trigger)
			answers <- err
		}()
	}
	for range cap(answers) {
		// One of them may find the other at work, and then says so.
		if err := <-answers; err != nil && !strings.Contains(err.Error(), "LAPSTRAKE_") {
			t.Errorf("trigger: %v", err)
		}
	}
	run := w.await(contract.NewRunID("orders", trigger.ScheduledTime.Time))
	if run.Status != runstate.RunSucceeded {
		t.Fatalf("the run ended as %+v", run)
	}
	w.sendAgain(run)
	w.eventually("empty queues", w.drained)
	w.wantPublished(ordersPrefix)
	w.verdict(ordersPrefix, run.RunID)
}
