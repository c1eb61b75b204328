package simulation

import (
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/keyspace"
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
