package simulation

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A manifest that cannot be written fails nothing that is stored, and the run
// does not succeed without it: the cursor stays, and the next try goes on. What
// comes after the cursor is best effort (I8 as amended).
func failedManifestKeepsTheRunOpen(t *testing.T, s shape) {
	w := s.world(t)
	down := true
	w.gate = func(_ *life, op string, perform func() error) error {
		if down && op == "replace "+out+contract.ManifestName || strings.Contains(op, "/summary.") && !reading(op) {
			return destination.ErrUnavailable
		}
		return perform()
	}
	triggerUntilPlanned(t, w, 1)
	s.extract(t, w)
	for range 3 {
		w.now = w.now.Add(3 * time.Minute)
		_, _ = w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep})
		_, _ = w.deliver(t.Context(), wire.FinalizeQueue)
	}
	run, now := w.run(t, 1), w.look(t)
	doc, _, _ := now.fence()
	stands, _ := now.marked()
	if run.Status != runstate.RunFinalizing || run.Error == nil || run.Error.Code != "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE" || doc.State != contract.FenceOpen || stands {
		t.Errorf("the run is %s (%+v), the fence %s, marker %v", run.Status, run.Error, doc.State, stands)
	}
	if err := writtenBeforeRecorded(moment{}, now); err != nil {
		t.Error(err)
	}
	down = false
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Errorf("in the end the run is %s: %+v", run.Status, run.Error)
	}
	s.wantDelivered(t, w)
}

// notifier writes down when it is told of what.
type recorder struct {
	h      *history
	events []notify.Event
}

func (r *recorder) Notify(_ context.Context, e notify.Event) error {
	r.h.calls = append(r.h.calls, "notify")
	r.events = append(r.events, e)
	return nil
}

// The end of a run goes by the order of I8: manifest, marker, cursor, verdict,
// report, notification.
func finalizeOrder(t *testing.T, s shape) {
	h := s.record(t, "")
	w := h.w
	triggerUntilPlanned(t, w, 1)
	s.extract(t, w)
	d, ok, err := w.queues.TryReceive(wire.FinalizeQueue)
	if err != nil || !ok {
		t.Fatalf("no finalize message (%v)", err)
	}
	m, err := wire.Decode[wire.FinalizeTask](d.Body)
	if err != nil {
		t.Fatal(err)
	}
	told := &recorder{h: h}
	l := &life{w: w}
	if _, err := finalizer.Handle(t.Context(), finalizer.Deps{Destinations: l, State: l.table(), Queue: l.queue(), Notifier: told, Clock: w, IDs: w, Log: quiet}, m); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, step := range []string{
		"create " + out + contract.SidecarName(w.runID(1)), "replace " + out + contract.ManifestName, "replace " + out + contract.SuccessName,
		"replace " + contract.CursorKey("orders"), "SucceedRun", "NoteRun", "replace " + contract.RunsDir("orders") + string(w.runID(1)) + "/summary.json", "notify", "MarkNotified",
	} {
		n := h.callNumber(step)
		if n <= at {
			t.Fatalf("%q is call %d, what comes before it is call %d:\n%s", step, n, at, strings.Join(h.calls, "\n"))
		}
		at = n
	}
	if len(told.events) != 1 || told.events[0].Verdict != "passed" || w.run(t, 1).Verdict != "passed" {
		t.Errorf("told %+v", told.events)
	}
}

// Two runs into one prefix: each keeps its sidecar and the parts that it lists.
func sidecarsSurvive(t *testing.T, s shape) {
	h := s.twoRuns(t)
	now := h.last()
	for id := 1; id <= 2; id++ {
		m, _, committed := now.sidecar(h.w.runID(id))
		if !committed {
			t.Fatalf("run %d has no success sidecar", id)
		}
		if err := now.parts(m); err != nil {
			t.Error(err)
		}
	}
	var before moment
	for _, m := range h.moments {
		if err := oneManifestARun(before, m); err != nil {
			t.Error(err)
		}
		before = m
	}
}

// A repair makes a part of a published run again, and a reader of the sidecar
// and one of the manifest get the same, repaired rows.
func repairReplacesTheSidecar(t *testing.T, s shape) {
	w := s.world(t)
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	before, _, _ := w.look(t).sidecar(w.runID(1))
	lost := before.Parts[len(before.Parts)-1].Path
	w.move(t, out+lost, "elsewhere/lost")
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1), Force: true}); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1))
	now := w.look(t)
	m, body, committed := now.sidecar(w.runID(1))
	canonical := now.objects[out+contract.ManifestName].body
	if _, fits := now.marked(); !committed || !fits || !bytes.Equal(body, canonical) {
		t.Fatalf("sidecar, manifest and marker are not one set (success %v, marker fits %v)", committed, fits)
	}
	if err := now.parts(m); err != nil {
		t.Error(err)
	}
	s.wantDelivered(t, w)
	if m.Generation <= before.Generation || slices.ContainsFunc(m.Parts, func(p contract.Part) bool { return p.Path == lost }) {
		t.Errorf("the manifest at generation %d lists what was lost", m.Generation)
	}
}
