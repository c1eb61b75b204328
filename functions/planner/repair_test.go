package planner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const second = "out/part-000002.csv"

// damages are what may happen to a published part.
var damages = []struct {
	name string
	do   func(s *stage.Stage)
	kept bool // an object to be kept in quarantine
}{
	{"missing", func(s *stage.Stage) { s.Lose(second) }, false},
	{"truncated", func(s *stage.Stage) { s.Put(second, "5\n6\n") }, true},
	{"overwritten by other bytes of the same size", func(s *stage.Stage) { s.Put(second, "5\n6\n7\n9\n") }, true},
}

// A published part is damaged; a repair by force makes it again, keeps what was
// there, and leaves manifest, sidecar and marker as one set, the fence committed
// by them at the next generation, and everything else as it was (MAN-08).
func TestRepairOfAPublishedRun(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			s := published(t)
			before, reads := s.Manifest(s.Sidecar(1)), s.DB.Reads
			d.do(s)
			if answer := s.MustPlan(s.Repair(1)); answer.Status != wire.Started || answer.Chunks != 1 {
				t.Fatalf("the planner answers %+v", answer)
			}
			if got := s.Run(1); got.Intent != wire.ActionRepair || got.Gen != 2 {
				t.Fatalf("the run has intent %s at generation %d", got.Intent, got.Gen)
			}
			if got := s.Manifest(s.Sidecar(1)); got.Generation != 1 {
				t.Fatal("the old manifest does not stand while the parts are made again")
			}
			s.Settle(1)
			after := s.WantPublished("after the repair", 1)
			if after.Generation != 2 || after.RunID != before.RunID || after.PartCount != before.PartCount || after.RowCount != before.RowCount {
				t.Fatalf("the manifest is %+v", after)
			}
			if after.Parts[0] != before.Parts[0] || after.Parts[1].Path != "part-g000002-000002.csv" {
				t.Fatalf("the parts are %+v", after.Parts)
			}
			if s.DB.Reads != reads+1 {
				t.Fatalf("%d tasks were read again", s.DB.Reads-reads)
			}
			doc := s.Fence()
			if doc.State != contract.FenceCommitted || doc.Generation != 2 || !doc.CommittedBy.Names(s.Body(s.Sidecar(1))) || doc.Position != nil {
				t.Fatalf("the fence is %+v", doc)
			}
			run := s.Run(1)
			if run.Status != runstate.RunSucceeded || run.Verdict != "passed" || run.Outcome.ManifestFingerprint != contract.FingerprintOf(s.Body(s.Sidecar(1))) {
				t.Fatalf("the run is %+v", run)
			}
			kept := s.Body("out/_quarantine/" + contract.Token(string(s.RunID(1))) + "/part-000002.csv")
			if (kept != nil) != d.kept {
				t.Fatalf("quarantined: %q", kept)
			}
			s.ExpireLeases()
			s.MustPlan(s.Trigger(2)) // and the export goes on
			s.Settle(2)
			s.WantPublished("the next run", 2)
		})
	}
}

// What is not damaged is not read again; a marker that somebody has deleted is
// put back.
func TestRepairOfAnIntactRun(t *testing.T) {
	for _, lost := range []string{"", "out/" + contract.SuccessName, "out/" + contract.ManifestName} {
		t.Run("without "+lost, func(t *testing.T) {
			s := published(t)
			reads := s.DB.Reads
			if lost != "" {
				s.Lose(lost)
			}
			if answer := s.MustPlan(s.Repair(1)); answer.Status != wire.Succeeded || answer.Reason != "intact" {
				t.Fatalf("the planner answers %+v", answer)
			}
			if got := s.WantPublished("after the repair", 1); got.Generation != 1 || s.DB.Reads != reads || s.Fence().Generation != 1 {
				t.Fatalf("generation %d, %d reads", got.Generation, s.DB.Reads-reads)
			}
		})
	}
}

// A repair is refused, by name and with nothing changed, when it cannot be done
// exactly.
func TestRepairIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   func(s *stage.Stage)
		want fault.Code
	}{
		{"a later run exists", func(s *stage.Stage) {
			s.MustPlan(s.Trigger(2))
			s.Settle(2)
			s.Lose(second)
		}, "LAPSTRAKE_RUN_NOT_LAST"},
		{"the fence document is gone", func(s *stage.Stage) {
			s.Lose(second)
			s.Lose(contract.CursorKey("orders"))
		}, "LAPSTRAKE_STATE_CURSOR_MISSING"},
		{"the plan is gone", func(s *stage.Stage) {
			s.Lose(second)
			s.Lose(contract.PlanKey("orders", s.RunID(1)))
		}, "LAPSTRAKE_RUN_PLAN_MISSING"},
		{"without force", func(s *stage.Stage) { s.Lose(second) }, planner.CodeComplete},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := published(t)
			tc.so(s)
			before, run := s.Keys(""), s.Run(1)
			trigger := s.Repair(1)
			trigger.Force = tc.name != "without force"
			_, err := s.Plan(trigger)
			if fault.CodeOf(err) != tc.want || fault.ExitCode(err) != fault.ExitRefused && tc.want != "LAPSTRAKE_RUN_PLAN_MISSING" {
				t.Fatalf("the planner: %v", err)
			}
			if after := s.Keys(""); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Fatalf("the bucket has changed from %v to %v", before, after)
			}
			if d := cmp.Diff(run, s.Run(1)); d != "" || s.Deliver(stage.ChunkQueue, nil) || s.Deliver(wire.FinalizeQueue, nil) {
				t.Fatalf("the run has changed, or messages were sent (-before +after):\n%s", d)
			}
		})
	}
}

// An unfinished run has nothing that could be repaired: force is no more than a
// resume.
func TestForceOfAnUnfinishedRunIsAResume(t *testing.T) {
	s := stage.New(t, 10)
	s.DB.Fail = func(r keyspace.Range) error {
		if r.UpTo == nil {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_TABLE_MISSING", "gone")
		}
		return nil
	}
	s.MustPlan(s.Trigger(1))
	s.Settle(1)
	s.DB.Fail = nil
	s.MustPlan(s.Repair(1))
	if got := s.Run(1); got.Intent != wire.ActionResume {
		t.Fatalf("the intent is %s", got.Intent)
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}

// The source fails for good while a part is made again: what was published
// before stands, the run has succeeded as before, with a verdict that says
// failed, and the repair can be tried again.
func TestRepairThatFails(t *testing.T) {
	s := published(t)
	before := s.Body(s.Sidecar(1))
	s.Lose(second)
	s.DB.Fail = func(keyspace.Range) error {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_TABLE_MISSING", "gone")
	}
	s.MustPlan(s.Repair(1))
	s.Settle(1)
	if got := s.Run(1); got.Status != runstate.RunSucceeded || got.Verdict != "failed" {
		t.Fatalf("the run is %s, verdict %q", got.Status, got.Verdict)
	}
	if string(s.Body(s.Sidecar(1))) != string(before) || string(s.Body("out/"+contract.ManifestName)) != string(before) {
		t.Fatal("what was published has changed")
	}
	s.DB.Fail = nil
	s.MustPlan(s.Repair(1))
	s.Settle(1)
	s.WantPublished("repaired at last", 1)
}

// One process dies at every call of a repair in turn, with that call landed or
// not. The queue, the sweep, and the repair asked for once more complete it.
func TestCrashAtEveryCallOfARepair(t *testing.T) {
	for _, landed := range []bool{false, true} {
		for _, byWhom := range []string{"the sweep", "another repair"} {
			t.Run(fmt.Sprintf("landed %v, completed by %s", landed, byWhom), func(t *testing.T) {
				for n := 1; ; n++ {
					calls, last := 0, ""
					dies := func(op string) (bool, bool) {
						calls++
						if calls == n {
							last = op
						}
						return calls == n, landed
					}
					s := published(t)
					s.Put(second, "5\n6\n7\n9\n")
					_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: dies}).Planner(), s.Repair(1))
					s.DrainDying(dies)
					if byWhom == "another repair" {
						s.DropMessages()
						s.ExpireLeases()
					}
					_, _ = s.Plan(s.Repair(1)) // before the lease has ended, or after it is repaired, it changes nothing
					s.Settle(1)
					when := fmt.Sprintf("after a crash in call %d (%s)", n, last)
					m := s.WantPublished(when, 1)
					if run := s.Run(1); run.Status != runstate.RunSucceeded || m.Generation < 2 || s.Fence().State != contract.FenceCommitted {
						t.Fatalf("%s: the run is %s, the manifest of generation %d, the fence %s", when, run.Status, m.Generation, s.Fence().State)
					}
					if calls < n {
						if n < 60 {
							t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
						}
						return
					}
				}
			})
		}
	}
}

// The answer of every call of a repair is lost in turn, though the call has
// happened; the process lives on and may do what it likes about that.
func TestLostAnswerOfEveryCallOfARepair(t *testing.T) {
	for n := 1; ; n++ {
		s := published(t)
		s.Put(second, "5\n6\n7\n9\n")
		calls, last := 0, ""
		s.Around = func(op string, perform func() error) error {
			calls++
			err := perform()
			if calls != n || err != nil {
				return err
			}
			last = op
			if strings.HasPrefix(op, "create ") || strings.HasPrefix(op, "replace ") {
				return destination.ErrUndecided
			}
			return errors.New("the answer was lost")
		}
		_, _ = s.Plan(s.Repair(1))
		s.Drain()
		s.ExpireLeases()
		_, _ = s.Plan(s.Repair(1))
		s.Settle(1)
		when := fmt.Sprintf("after call %d (%s) was not answered", n, last)
		if m := s.WantPublished(when, 1); m.Generation < 2 || s.Run(1).Status != runstate.RunSucceeded {
			t.Fatalf("%s: generation %d, the run is %s", when, m.Generation, s.Run(1).Status)
		}
		if calls < n {
			if n < 60 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
	}
}

// Another run takes over before every call of a repair in turn. The repair never
// touches what that run publishes, and what the repaired run lists is either
// what it was or wholly repaired.
func TestSuccessorAtEveryCallOfARepair(t *testing.T) {
	for n := 1; ; n++ {
		calls, last := 0, ""
		s := published(t)
		old := s.Body(s.Sidecar(1))
		s.Put(second, "5\n6\n7\n9\n")
		s.Around = func(op string, perform func() error) error {
			calls++
			if calls != n {
				return perform()
			}
			last = op
			s.Around = nil
			s.ExpireLeases()
			s.MustPlan(s.Trigger(2))
			for s.Deliver(stage.ChunkQueue, nil) {
			}
			for range 3 {
				_, _ = s.Finalize(2)
			}
			if got := s.Run(2).Status; got != runstate.RunSucceeded {
				t.Fatalf("the successor in call %d (%s) is %s: %+v", n, op, got, s.Run(2).Error)
			}
			return perform()
		}
		_, _ = s.Plan(s.Repair(1))
		s.Drain()
		s.Around = nil
		when := fmt.Sprintf("a successor before call %d (%s)", n, last)
		s.Settle(1)
		if got := s.Run(1).Status; got != runstate.RunSucceeded {
			t.Fatalf("%s: the repaired run is %s", when, got)
		}
		sidecar := s.Body(s.Sidecar(1))
		if string(sidecar) != string(old) {
			s.WantRows(when, sidecar)
		}
		if calls < n {
			if n < 60 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			s.WantPublished(when, 1)
			return
		}
		s.WantPublished(when, 2)
	}
}

// A finalizer of the repaired generation stalls past the fence while a second
// repair comes to its end; it wakes up, and the newer manifest stands.
func TestZombieOfARepairLosesToANewerOne(t *testing.T) {
	id := stage.New(t, 0).RunID(1)
	for _, at := range []string{"create " + contract.RecordKey("orders", id, 2), "replace out/" + contract.SidecarName(id), "replace out/manifest.json", "replace out/_SUCCESS", "replace " + cursorKey} {
		t.Run(at, func(t *testing.T) { zombieOfARepair(t, at) })
	}
}

func zombieOfARepair(t *testing.T, at string) {
	s := published(t)
	s.Lose(second)
	s.MustPlan(s.Repair(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	stalled := false
	s.Around = func(op string, perform func() error) error {
		if stalled || op != at {
			return perform()
		}
		stalled, s.Around = true, nil
		s.ExpireLeases()
		s.Lose("out/part-g000002-000002.csv")
		s.MustPlan(s.Repair(1))
		s.DropMessages()
		_, _ = s.Extract(1, s.Task(1, "000001.r1").SupersededBy)
		if _, err := s.Finalize(1); err != nil {
			t.Fatal(err)
		}
		if m := s.Manifest(s.Sidecar(1)); m.Generation != 3 {
			t.Fatalf("the second repair has not come to its end: generation %d", m.Generation)
		}
		return perform()
	}
	_, _ = s.Finalize(1)
	s.Drain()
	if m := s.WantPublished("in the end", 1); !stalled || m.Generation != 3 {
		t.Fatalf("generation %d", m.Generation)
	}
}

// Every message of a repair comes twice, and so does its trigger.
func TestRepairTwice(t *testing.T) {
	s := published(t)
	s.Lose(second)
	s.MustPlan(s.Repair(1))
	if _, err := s.Plan(s.Repair(1)); fault.CodeOf(err) != "LAPSTRAKE_RUN_ACTIVE" {
		t.Fatalf("the second repair: %v", err)
	}
	for _, queue := range []string{stage.ChunkQueue, wire.FinalizeQueue} {
		for _, m := range s.Queues.Pending(queue) {
			if _, ok := s.Queues.Deliver(queue, m.ID); !ok { // in flight, and back after its visibility time
				t.Fatal("no message")
			}
		}
	}
	s.Settle(1)
	m := s.WantPublished("in the end", 1)
	if !strings.HasPrefix(m.Parts[1].Path, "part-g000002-") {
		t.Fatalf("the parts are %+v", m.Parts)
	}
}
