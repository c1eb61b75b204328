package validator

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestAVerdictIsStoredBesideTheReport(t *testing.T) {
	w := newWorld(t)
	manifest := w.get(prefix + "manifest.json")
	w.put(prefix+"report.xlsx", []byte("x"))
	w.mustHandle(wire.Ack)

	want := verify.Document{
		VerdictVersion: 1, Export: export, RunID: run1, Generation: 1, ManifestFingerprint: contract.FingerprintOf(manifest), Prefix: "2026-11-29/",
		Verdict: verify.Passed, CheckedAt: contract.NewTime(at), RowCount: 2, PartCount: 1, UntrackedObjects: 1, OtherObjects: 1,
		Verification: contract.ManifestVerification{
			ManifestFound: true, PartsVerified: 1, PartsMD5Verified: 1, SuccessMarkerConsistent: true, ManifestSelfConsistent: true, Passed: true,
			Failures: []contract.Failure{contract.UntrackedObject("report.xlsx", 1)}, DepthLevel: "sample",
		},
	}
	if d := cmp.Diff(map[string]verify.Document{verdictKey(run1, manifest): want}, w.verdicts()); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]verify.Document{want}, w.judged); d != "" {
		t.Errorf("observed (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"passed UNTRACKED_OBJECT"}, w.told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

func TestRepeatedAndLateEventsChangeNothing(t *testing.T) { // QUE-17
	w := newWorld(t)
	w.mustHandle(wire.Ack)
	first := w.verdicts()
	for range 3 {
		w.mustHandle(wire.Ack)
	}
	if d := cmp.Diff(first, w.verdicts()); d != "" || len(w.told) != 1 {
		t.Errorf("told %v, verdicts changed:\n%s", w.told, d)
	}

	second := w.publish(run2, 2) // its event comes first,
	w.fence(run2, 2, contract.FenceCommitted)
	w.mustHandle(wire.Ack)
	w.mustHandle(wire.Ack) // and then one of the older marker
	got := w.verdicts()
	if len(got) != 2 || got[verdictKey(run2, second)].RunID != run2 || got[verdictKey(run2, second)].Verdict != verify.Passed || len(w.told) != 2 {
		t.Errorf("told %v, stored %+v", w.told, got)
	}
}

func TestARepeatedEventListsNothing(t *testing.T) {
	w := newWorld(t)
	w.mustHandle(wire.Ack)
	var rec faulty.Recorder
	w.faults = []faulty.Fault{&rec}
	w.mustHandle(wire.Ack)
	for _, c := range rec.Calls() {
		if strings.HasPrefix(c, "list ") || strings.HasPrefix(c, "create ") {
			t.Errorf("repeated delivery: %s", c)
		}
	}
}

func TestTwoDeliveriesAtOnceTellOnce(t *testing.T) {
	for _, undecided := range []bool{false, true} {
		w := newWorld(t)
		w.faults = []faulty.Fault{faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			if c.Op != "create" {
				return perform()
			}
			w.faults = nil
			w.time = w.time.Add(1) // the other delivery's verdict differs in its time
			w.mustHandle(wire.Ack)
			if undecided {
				return &destination.OpError{Op: c.Op, Key: c.Key, Err: destination.ErrUndecided}
			}
			return perform()
		})}
		w.mustHandle(wire.Ack)
		if len(w.told) != 1 || len(w.verdicts()) != 1 {
			t.Errorf("undecided %v: told %v, stored %v", undecided, w.told, w.verdicts())
		}
	}
}

func TestVerdictsOnADamagedPrefix(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(w *world)
		stored verify.Verdict // "" for none
		told   string
	}{
		{name: "a part is gone", damage: func(w *world) { w.remove(prefix + "part-g000001-000001.csv") }, stored: verify.Failed, told: "failed PART_MISSING"},
		{name: "the marker is of no run, and nobody is publishing", damage: func(w *world) { w.put(prefix+"_SUCCESS", []byte("xxh3:0123456789abcdef\n")) },
			stored: verify.Failed, told: "failed SUCCESS_STALE"},
		{name: "the marker is damaged", damage: func(w *world) { w.put(prefix+"_SUCCESS", []byte("done")) }, stored: verify.Failed, told: "failed SUCCESS_MALFORMED"},
		{name: "the marker has gone again", damage: func(w *world) { w.remove(prefix + "_SUCCESS") }, told: "passed"},
		{name: "the manifest is gone", damage: func(w *world) { w.remove(prefix + "manifest.json") }, told: "failed MANIFEST_MISSING"},
		{name: "output of another writer", damage: func(w *world) { w.remove(prefix + "manifest.json"); w.put(prefix+"_SUCCESS", nil) }, told: "reduced"},
		{name: "the manifest cannot be read", damage: func(w *world) { w.put(prefix+"manifest.json", []byte("{}")) }, told: "failed MANIFEST_INCONSISTENT,SUCCESS_STALE"},
		{name: "a copy of the prefix in a bucket without the control folder", damage: func(w *world) { w.remove(root + "/" + contract.CursorKey(export)) }, told: "passed"},
		{name: "the fence cannot be read", damage: func(w *world) { w.put(root+"/"+contract.CursorKey(export), []byte("{")) }, told: "passed"},
		{name: "the run asked for content and the plan is not to be had", damage: func(w *world) { w.put(root+"/"+contract.PlanKey(export, run1), []byte("{")) },
			stored: verify.Passed, told: "passed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			tc.damage(w)
			w.mustHandle(wire.Ack)
			var stored verify.Verdict
			for _, d := range w.verdicts() {
				stored = d.Verdict
			}
			if stored != tc.stored {
				t.Errorf("stored %q, want %q", stored, tc.stored)
			}
			if d := cmp.Diff([]string{tc.told}, w.told); d != "" {
				t.Errorf("told (-want +got):\n%s", d)
			}
		})
	}
}

func TestContentIsDemandedIfThePlanDoes(t *testing.T) {
	for content, want := range map[string]verify.Verdict{"content": verify.Failed, "size": verify.Passed} {
		w := &world{t: t}
		w.cloud.Like = destination.Capabilities{CommitProtocol: "Atomic"} // knows sizes only
		w.bucket = w.cloud.Make("b")
		manifest := w.publish(run1, 1)
		w.fence(run1, 1, contract.FenceCommitted)
		plan, err := chunkplan.Plan{PlanVersion: chunkplan.PlanVersion, RunID: run1, Export: exportconfig.Export{Name: string(export), Verify: content}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		w.put(root+"/"+contract.PlanKey(export, run1), plan)
		w.mustHandle(wire.Ack)
		if got := w.verdicts()[verdictKey(run1, manifest)].Verdict; got != want {
			t.Errorf("verify: %s gives %q, want %q", content, got, want)
		}
	}
}

// Between its manifest and its marker a run looks like a damaged prefix. Only
// the fence tells the two apart.
func TestAStaleMarkerIsPendingWhileSomebodyPublishes(t *testing.T) {
	for _, tc := range []struct {
		state contract.FenceState
		owner contract.RunID
		want  wire.OutcomeKind
	}{
		{state: contract.FenceOpening, owner: run2, want: wire.Retry}, // a successor rolls it forward
		{state: contract.FenceOpen, owner: run2, want: wire.Retry},
		{state: contract.FenceReleased, owner: run2, want: wire.Retry},
		{state: contract.FenceCommitted, owner: run2, want: wire.Ack},
	} {
		t.Run(string(tc.state), func(t *testing.T) {
			w := newWorld(t)
			m := w.manifest(run2, 2)
			body := w.writeManifest(m)
			w.fence(tc.owner, 2, tc.state)
			out := w.mustHandle(tc.want)
			if tc.want == wire.Ack {
				if w.verdicts()[verdictKey(run2, body)].Verdict != verify.Failed {
					t.Errorf("stored %v", w.verdicts())
				}
				return
			}
			if out.AfterSeconds != PendingSeconds || len(w.verdicts()) != 0 || len(w.judged) != 0 || !slices.Equal(w.told, []string{"pending SUCCESS_STALE"}) {
				t.Errorf("outcome %+v, told %v, stored %v", out, w.told, w.verdicts())
			}
			w.put(prefix+"_SUCCESS", contract.SuccessBody(body))
			w.fence(run2, 2, contract.FenceCommitted)
			w.mustHandle(wire.Ack)
			if w.verdicts()[verdictKey(run2, body)].Verdict != verify.Passed {
				t.Errorf("after publication: %v", w.verdicts())
			}
		})
	}
}

func TestWaitingDoesNotHealAMissingPart(t *testing.T) {
	w := newWorld(t)
	body := w.writeManifest(w.manifest(run2, 2))
	w.fence(run2, 2, contract.FenceOpen)
	w.remove(prefix + "part-g000002-000001.csv")
	w.mustHandle(wire.Ack)
	if w.verdicts()[verdictKey(run2, body)].Verdict != verify.Failed {
		t.Errorf("stored %v", w.verdicts())
	}
}

func TestAStaleMarkerIsFinalForAManifestThatNoRunPublished(t *testing.T) {
	w := newWorld(t)
	m := w.manifest(run1, 1)
	m.Compression = "zstd"
	body, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.put(prefix+"manifest.json", body) // the sidecar still says otherwise
	w.fence(run2, 2, contract.FenceOpen)
	w.mustHandle(wire.Ack)
	if w.verdicts()[verdictKey(run1, body)].Verdict != verify.Failed {
		t.Errorf("stored %v", w.verdicts())
	}
}

// A newer run goes through its whole publication, one step before each of the
// handler's requests: whatever the handler sees, it never stores a verdict that
// is wrong for good.
func TestAPublicationUnderTheHandlerIsNeverFailed(t *testing.T) {
	for start := 1; start < 40; start++ {
		for _, every := range []int{1, 2, 3, 5} {
			w := newWorld(t)
			var body []byte
			steps := []func(){
				func() { w.fence(run2, 2, contract.FenceOpening) },
				func() { w.fence(run2, 2, contract.FenceOpen) },
				func() { body = w.writeManifest(w.manifest(run2, 2)) },
				func() { w.put(prefix+"_SUCCESS", contract.SuccessBody(body)) },
				func() { w.fence(run2, 2, contract.FenceCommitted) },
			}
			w.faults = []faulty.Fault{faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
				if n := c.N - start; n >= 0 && n%every == 0 && len(steps) > 0 {
					steps[0]()
					steps = steps[1:]
				}
				return perform()
			})}
			for range 6 {
				if out, err := w.handle(prefix); err != nil {
					t.Fatal(err)
				} else if out.Kind == wire.Ack {
					break
				}
			}
			w.faults = nil
			for len(steps) > 0 {
				steps[0]()
				steps = steps[1:]
			}
			w.mustHandle(wire.Ack)
			for key, d := range w.verdicts() {
				if d.Verdict != verify.Passed {
					t.Fatalf("from call %d, every %d: %s is %s: %+v", start, every, key, d.Verdict, d.Verification.Failures)
				}
			}
		}
	}
}

func TestAnUpstreamPrefixIsJudgedAloud(t *testing.T) {
	w := newWorld(t)
	m := w.manifest(run1, 0)
	m.Control = ""
	w.put(prefix+"_SUCCESS", contract.SuccessBody(w.writeManifest(m)))
	w.mustHandle(wire.Ack)
	w.put(prefix+"_SUCCESS", []byte("xxh3:0123456789abcdef\n"))
	w.mustHandle(wire.Ack)
	if len(w.verdicts()) != 0 {
		t.Errorf("stored %v", w.verdicts())
	}
	if d := cmp.Diff([]string{"passed UNTRACKED_OBJECT", "failed SUCCESS_STALE,UNTRACKED_OBJECT"}, w.told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

func TestEveryRequestMayFailOnce(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(t)
		manifest := w.get(prefix + "manifest.json")
		calls := 0
		w.faults = []faulty.Fault{faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			calls = c.N
			return faulty.Transient{Call: n}.Around(c, perform)
		})}
		out, err := w.handle(prefix)
		if calls < n {
			if n < 8 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n-1)
			}
			break
		}
		if n > 1 && n != 2 && (out.Kind != wire.Retry || !errors.Is(err, destination.ErrUnavailable)) {
			t.Errorf("call %d failed: outcome %+v, error %v", n, out, err)
		}
		w.faults = nil
		w.mustHandle(wire.Ack)
		if got := w.verdicts(); len(got) != 1 || got[verdictKey(run1, manifest)].Verdict != verify.Passed {
			t.Errorf("call %d failed: stored %v", n, got)
		}
	}
}

func TestAnAnswerThatIsLostIsAskedForAgain(t *testing.T) {
	for _, landed := range []bool{true, false} {
		w := newWorld(t)
		if landed {
			w.faults = []faulty.Fault{faulty.LoseAcknowledgement{Write: 1}}
			w.mustHandle(wire.Ack)
		} else {
			w.faults = []faulty.Fault{faulty.LoseRequest{Write: 1}}
			if out, err := w.handle(prefix); out.Kind != wire.Retry || err == nil {
				t.Errorf("outcome %+v, error %v", out, err)
			}
			w.faults = nil
			w.mustHandle(wire.Ack)
		}
		if len(w.verdicts()) != 1 || len(w.told) != 1 {
			t.Errorf("landed %v: told %v, stored %v", landed, w.told, w.verdicts())
		}
	}
}

func TestAHostileControlPathWritesNothing(t *testing.T) {
	for _, control := range []string{"../../../..", "/", "/etc", "../../../../removed", "..\\..", "x", "./..", "../", "../x", "....", "..//..", "\x00"} {
		w := newWorld(t)
		before := len(w.verdicts())
		m := w.manifest(run1, 1)
		m.Control = control
		w.put(prefix+"_SUCCESS", contract.SuccessBody(w.writeManifest(m)))
		w.mustHandle(wire.Ack)
		if len(w.verdicts()) != before || len(w.told) != 1 || !strings.HasPrefix(w.told[0], "failed MANIFEST_INCONSISTENT") {
			t.Errorf("control %q: told %v, stored %v", control, w.told, w.verdicts())
		}
	}
	for _, name := range []contract.RunID{"..", "."} {
		w := newWorld(t)
		m := w.manifest(run1, 1)
		m.RunID = name
		w.put(prefix+"_SUCCESS", contract.SuccessBody(w.writeManifest(m)))
		w.mustHandle(wire.Ack)
		if len(w.verdicts()) != 0 || !strings.HasPrefix(w.told[0], "failed MANIFEST_INCONSISTENT") {
			t.Errorf("run %q: told %v, stored %v", name, w.told, w.verdicts())
		}
	}
}

func TestMessagesThatAskForNothing(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{root + "/_lapstrake/public.orders/", prefix + "_quarantine/r1/", "_quarantine/r1"} {
		if out, err := w.handle(p); err != nil || out.Kind != wire.Ack {
			t.Errorf("%s: %+v, %v", p, out, err)
		}
	}
	for _, p := range []string{"../x/", "/abs/", "a//b/", "a/../../b/", "a\x00b"} {
		if out, err := w.handle(p); out.Kind != wire.Fatal || fault.ClassOf(err) != fault.Permanent {
			t.Errorf("%q: %+v, %v", p, out, err)
		}
	}
	if len(w.told) != 0 || len(w.verdicts()) != 0 {
		t.Errorf("told %v, stored %v", w.told, w.verdicts())
	}
}

func TestRootOf(t *testing.T) {
	for _, tc := range []struct{ prefix, control, want string }{
		{"", ".", ""},
		{"a/", ".", "a"},
		{"a/b/c/", "..", "a/b"},
		{"a/b/c/", "../../..", ""},
		{"a/b/c/", "../../../..", "refused"},
		{"", "..", "refused"},
		{"a/", "../b", "refused"},
	} {
		got, err := rootOf(tc.prefix, tc.control)
		if err != nil {
			got = "refused"
		}
		if got != tc.want {
			t.Errorf("rootOf(%q, %q) is %q (%v), want %q", tc.prefix, tc.control, got, err, tc.want)
		}
	}
}
