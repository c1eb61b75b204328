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
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// directed are the rules that need a story of their own, shape by shape.
var directed = []struct {
	id   string
	test func(t *testing.T, s shape)
}{
	{"M6", legacyIsLabelled},
	{"M8", resumeFollowsTheMatrix},
	{"M9", quarantineNeverDeletes},
	{"I7", failedManifestKeepsTheRunOpen},
	{"I8", finalizeOrder},
	{"run_unique_sidecar_survives_shared_prefix", sidecarsSurvive},
	{"repair_updates_the_run_unique_sidecar", repairReplacesTheSidecar},
	{"resume_never_quarantines_a_committed_part", committedPartsStay},
	{"keyset_fresh_crash_before_first_page_rereads_not_skips", freshCrashRereads},
	{"keyset_post_data_failure_non_incremental_clears_anchor", failureAfterDataRereads},
	{"keyset_incremental_crash_before_finalize_rehydrates_not_orphans", resumeRehydrates},
}

// Every rule that takes a story of its own, in every shape.
func TestRules(t *testing.T) {
	everyShape(t, func(t *testing.T, s shape) {
		for _, d := range directed {
			t.Run(d.id, func(t *testing.T) { d.test(t, s) })
		}
	})
}

func (s shape) wantDelivered(t *testing.T, w *world) {
	t.Helper()
	if err := s.delivered(w, w.look(t)); err != nil {
		t.Error(err)
	}
}

// prefix is where the parts are.
func (w *world) prefix() destination.Store { return destination.Prefixed(w.bucket, out) }

// now is the state of the world, without a history.
func (w *world) look(t *testing.T) moment {
	t.Helper()
	h := &history{w: w}
	h.look(t, "")
	return h.last()
}

// forgotten is a world whose first run has extracted everything and was left
// before anything was published: its messages are lost, its leases have ended.
func (s shape) forgotten(t *testing.T) *world {
	t.Helper()
	w := s.world(t)
	triggerUntilPlanned(t, w, 1)
	s.extract(t, w)
	if n := len(w.chunks(t, 1)); n < 3 {
		t.Fatalf("%d tasks: the test no longer tests anything", n)
	}
	w.dropMessages(t)
	w.now = w.now.Add(planTimeout)
	return w
}

// resume resumes the first run.
func (w *world) resume(t *testing.T) error {
	t.Helper()
	_, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)})
	return err
}

// reads counts the reads of the source from now on.
func (w *world) reads() *int {
	n, asked := 0, w.db.fail
	w.db.fail = func(r keyspace.Range) error {
		n++
		if asked != nil {
			return asked(r)
		}
		return nil
	}
	return &n
}

// move gives an object another name.
func (w *world) move(t *testing.T, from, to string) {
	t.Helper()
	o, err := w.bucket.Head(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.bucket.Move(t.Context(), from, to, o.Version); err != nil {
		t.Fatal(err)
	}
}

// write puts other bytes where something or nothing is.
func (w *world) write(t *testing.T, key, body string) {
	t.Helper()
	var version destination.Version
	if o, err := w.bucket.Head(t.Context(), key); err == nil {
		version = o.Version
	}
	m := destination.Meta{Fingerprint: contract.FingerprintOf([]byte(body)), MD5: contract.MD5Base64([]byte(body))}
	if _, err := w.bucket.Replace(t.Context(), key, version, []byte(body), m); err != nil {
		t.Fatal(err)
	}
}

// A prefix with parts and without a manifest is judged as one of a legacy run,
// and said to be.
func legacyIsLabelled(t *testing.T, s shape) {
	w := s.world(t)
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	for _, name := range []string{contract.ManifestName, contract.SuccessName, contract.SidecarName(w.runID(1))} {
		w.move(t, out+name, "elsewhere/"+name)
	}
	r, err := verify.Verify(t.Context(), w.prefix(), verify.Options{Depth: verify.Sample, Prefix: out})
	if err != nil || !r.Verification.LegacyRun || r.Verification.Passed || r.Verdict() != verify.Reduced {
		t.Fatalf("the verdict is %q, legacy_run %v, passed %v (%v)", r.Verdict(), r.Verification.LegacyRun, r.Verification.Passed, err)
	}
}

// damaged is a forgotten run with one part missing, one that differs, one
// intact, and two objects that nothing records.
func (s shape) damaged(t *testing.T) (w *world, missing, differs, intact runstate.PartRecord) {
	t.Helper()
	w = s.forgotten(t)
	var parts []runstate.PartRecord
	for _, c := range w.chunks(t, 1) {
		parts = append(parts, c.Parts...)
	}
	missing, differs, intact = parts[0], parts[1], parts[2]
	w.move(t, out+missing.Path, "elsewhere/missing")
	w.write(t, out+differs.Path, strings.Repeat("x", int(differs.SizeBytes)))
	w.write(t, out+"part-000099.csv", "1\n")
	w.write(t, out+"notes.txt", "an operator's")
	return w, missing, differs, intact
}

// A resume decides part by part, twice the same, and refuses a complete run.
func resumeFollowsTheMatrix(t *testing.T, s shape) {
	decisions := func() ([]string, *world) {
		w, missing, differs, intact := s.damaged(t)
		h := s.recordOf(t, "", w)
		if err := w.resume(t); err != nil {
			t.Fatal(err)
		}
		w.settle(t, w.runID(1))
		var made []string
		for _, call := range h.calls {
			if call == "Repair" || strings.HasPrefix(call, "move ") || strings.HasPrefix(call, "create "+out+"part-") {
				made = append(made, call)
			}
		}
		now := w.look(t)
		m, _, _ := now.sidecar(w.runID(1))
		listed := func(path string) bool {
			return slices.ContainsFunc(m.Parts, func(p contract.Part) bool { return p.Path == path })
		}
		quarantined := func(name string) bool {
			_, there := now.objects[out+contract.QuarantineName(w.runID(1), name)]
			return there
		}
		for _, tc := range []struct {
			decision string
			holds    bool
		}{
			{"recorded, present and equal: skipped", listed(intact.Path) && !quarantined(intact.Path)},
			{"recorded and missing: made again", !listed(missing.Path) && !quarantined(missing.Path)},
			{"recorded and different: quarantined and made again", !listed(differs.Path) && quarantined(differs.Path)},
			{"not recorded: quarantined", quarantined("part-000099.csv") && quarantined("notes.txt")},
		} {
			if !tc.holds {
				t.Errorf("it is not so that what is %s; %s", tc.decision, made)
			}
		}
		if err := s.delivered(w, now); err != nil {
			t.Error(err)
		}
		return made, w
	}
	first, w := decisions()
	if second, _ := decisions(); !slices.Equal(first, second) {
		t.Errorf("the same damage is answered by\n%s\nand by\n%s", first, second)
	}
	before := w.look(t)
	if err := w.resume(t); fault.CodeOf(err) != "LAPSTRAKE_DEST_ALREADY_COMPLETE" {
		t.Errorf("the complete run is resumed: %v", err)
	}
	if now := w.look(t); len(now.objects) != len(before.objects) {
		t.Error("the refusal changed the destination")
	}
}

// Whatever stands at the destination when a run is resumed stands there, or in
// the quarantine, afterwards; and a move that fails stops nothing.
func quarantineNeverDeletes(t *testing.T, s shape) {
	for _, denied := range []bool{false, true} {
		w, _, _, _ := s.damaged(t)
		before := w.look(t)
		moves := 0
		w.gate = func(_ *life, op string, perform func() error) error {
			if strings.HasPrefix(op, "move ") {
				if moves++; denied {
					return destination.ErrDenied
				}
			}
			return perform()
		}
		if err := w.resume(t); err != nil {
			t.Fatal(err)
		}
		w.settle(t, w.runID(1))
		now := w.look(t)
		have := make(map[string]bool)
		for _, o := range now.objects {
			have[string(o.body)] = true
		}
		for key, o := range before.objects {
			if strings.HasPrefix(key, out) && !have[string(o.body)] {
				t.Errorf("denied %v: the bytes of %s are nowhere any more", denied, key)
			}
		}
		if moves < 3 {
			t.Fatalf("%d moves: the test no longer tests anything", moves)
		}
		if err := s.delivered(w, now); err != nil {
			t.Errorf("denied %v: %v", denied, err)
		}
	}
}

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

// A resume leaves what the table records where it is, though no manifest lists
// it, and though an older manifest of the prefix does not.
func committedPartsStay(t *testing.T, s shape) {
	w := s.forgotten(t)
	recorded := w.chunks(t, 1)
	if err := w.resume(t); err != nil {
		t.Fatal(err)
	}
	now := w.look(t)
	for _, c := range recorded {
		for _, p := range c.Parts {
			if err := now.part(p.Path, p.SizeBytes, p.Fingerprint); err != nil {
				t.Error(err)
			}
		}
	}
	for key := range now.objects {
		if strings.Contains(key, "_quarantine/") {
			t.Errorf("%s was quarantined", key)
		}
	}
	w.settle(t, w.runID(1))
	s.wantDelivered(t, w)
}

// After a run that has ended, one dies before its first part: the next one
// reads the table from its beginning, and whatever came meanwhile.
func freshCrashRereads(t *testing.T, s shape) {
	w := s.world(t)
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	s.grow(w)
	w.before = func(op string) {
		if strings.HasPrefix(op, "create "+out+"part-") && w.death.at == 0 {
			w.death = plan{at: w.calls + 1}
		}
	}
	triggerUntilPlanned(t, w, 2)
	w.drainUntilDead(t)
	if w.death.at == 0 {
		t.Fatal("no process died: the test no longer tests anything")
	}
	w.before = nil
	w.dropMessages(t)
	s.grow(w)
	w.now = w.now.Add(planTimeout)
	triggerUntilPlanned(t, w, 3)
	w.settle(t, w.runID(3))
	m, _ := w.read(t)
	s.wantDelivered(t, w)
	if m.RunID != w.runID(3) {
		t.Errorf("the manifest is that of %s", m.RunID)
	}
}

// A run that has extracted everything and then fails leaves nothing that makes
// the next one skip a row that has changed since.
func failureAfterDataRereads(t *testing.T, s shape) {
	w := s.forgotten(t)
	w.now = w.now.Add(25 * time.Hour)
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil {
		t.Fatal(err)
	}
	if run := w.run(t, 1); run.Status != runstate.RunFailed {
		t.Fatalf("the run is %s: the test no longer tests anything", run.Status)
	}
	s.grow(w)
	reads := w.reads()
	triggerUntilPlanned(t, w, 2)
	w.settle(t, w.runID(2))
	m, _ := w.read(t)
	s.wantDelivered(t, w)
	if m.RunID != w.runID(2) || *reads == 0 {
		t.Errorf("the manifest is that of %s after %d reads", m.RunID, *reads)
	}
	if _, _, committed := w.look(t).sidecar(w.runID(1)); committed {
		t.Error("the failed run has committed")
	}
}

// A run that has extracted everything and is resumed lists what it has, and
// reads nothing again.
func resumeRehydrates(t *testing.T, s shape) {
	w := s.forgotten(t)
	var had []string
	for _, c := range w.chunks(t, 1) {
		for _, p := range c.Parts {
			had = append(had, p.Path)
		}
	}
	reads := w.reads()
	if err := w.resume(t); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1))
	m, _ := w.read(t)
	s.wantDelivered(t, w)
	var listed []string
	for _, p := range m.Parts {
		listed = append(listed, p.Path)
	}
	if !slices.Equal(had, listed) || *reads != 0 {
		t.Errorf("%d reads after the resume; recorded %v, listed %v", *reads, had, listed)
	}
	if m.RunID != w.runID(1) || m.Generation != 2 {
		t.Errorf("the manifest is that of %s at generation %d", m.RunID, m.Generation)
	}
}
