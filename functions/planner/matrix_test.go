package planner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// modes are the ways in which a run of the stage can be cut into tasks.
var modes = []struct {
	name string
	set  func(e *exportconfig.Export)
}{
	{"chunked", func(*exportconfig.Export) {}},
	{"keyset", func(e *exportconfig.Export) { e.ChunkColumn, e.ChunkByKey = "", "id" }},
	{"full", func(e *exportconfig.Export) { e.Mode, e.ChunkColumn, e.ChunkSize = "full", "", 0 }},
}

// abandoned is a stage whose run 1 has completed its tasks and died with its
// messages, and was left until its leases had ended.
func abandoned(t *testing.T, set func(e *exportconfig.Export)) *stage.Stage {
	s := stage.New(t, 10)
	set(&s.Config.Exports[0])
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	s.DropMessages()
	s.ExpireLeases()
	return s
}

// other is a manifest of another run that lists a part.
func other(name string, lists string, generation bool) func(s *stage.Stage) {
	return func(s *stage.Stage) {
		g := ""
		if generation {
			g = `,"generation":1`
		}
		s.Put("out/"+name, fmt.Sprintf(`{"manifest_version":1,"run_id":"r0","export_name":"orders","started_at":"2026-11-29T12:00:00+00:00","finished_at":"2026-11-29T12:00:00+00:00","status":"success",`+
			`"source":{"engine":"postgres","schema":null,"table":null},"destination":{"kind":"local","uri":""},"format":"csv","compression":"none","schema_fingerprint":"","row_count":1,"part_count":1,`+
			`"parts":[{"part_id":1,"path":%q,"rows":1,"size_bytes":2,"content_fingerprint":"","content_md5":"","status":"committed"}]%s}`, lists, g))
	}
}

// Each row of M8, and each exemption from it, for one name of the prefix: what a
// resume moves, and whether it makes the recorded part again.
func TestEveryRowOfTheResumeMatrix(t *testing.T) {
	const recorded = "part-000001.csv"
	put := func(name, body string) func(s *stage.Stage) { return func(s *stage.Stage) { s.Put("out/"+name, body) } }
	for _, tc := range []struct {
		name  string
		about string // the object
		so    []func(s *stage.Stage)
		moved bool
		again bool
	}{
		{name: "recorded and present", about: recorded},
		{name: "recorded and missing", about: recorded, so: []func(*stage.Stage){func(s *stage.Stage) { s.Lose("out/" + recorded) }}, again: true},
		{name: "recorded, of another size", about: recorded, so: []func(*stage.Stage){put(recorded, "1\n")}, moved: true, again: true},
		{name: "recorded, of other content", about: recorded, so: []func(*stage.Stage){func(s *stage.Stage) {
			s.Put("out/"+recorded, strings.Repeat("x", len(s.Body("out/"+recorded))))
		}}, moved: true, again: true},
		{name: "a file that nobody lists", about: "notes.txt", so: []func(*stage.Stage){put("notes.txt", "x")}, moved: true}, // MAN-15
		{name: "a part of an older generation that nobody lists", about: "part-000077.csv", so: []func(*stage.Stage){put("part-000077.csv", "x")}, moved: true},
		{name: "a part of this generation that nobody lists yet", about: "part-g000002-000077.csv", so: []func(*stage.Stage){put("part-g000002-000077.csv", "x")}},
		{name: "a part of a newer generation", about: "part-g000003-000077.csv", so: []func(*stage.Stage){put("part-g000003-000077.csv", "x")}},
		{name: "a part that another run's sidecar lists", about: "part-000077.csv", so: []func(*stage.Stage){put("part-000077.csv", "x\n"), other("manifest-r0.json", "part-000077.csv", true)}},
		{name: "a part that the upstream's sidecar lists", about: "orders_2026_chunk0.csv", so: []func(*stage.Stage){put("orders_2026_chunk0.csv", "x\n"), other("manifest-r0.json", "orders_2026_chunk0.csv", false)}},
		{name: "a part that manifest.json lists", about: "part-000077.csv", so: []func(*stage.Stage){put("part-000077.csv", "x\n"), other("manifest.json", "part-000077.csv", false)}},
		{name: "manifest.json itself", about: "manifest.json", so: []func(*stage.Stage){other("manifest.json", "elsewhere.csv", false)}},
		{name: "a sidecar itself", about: "manifest-r0.json", so: []func(*stage.Stage){other("manifest-r0.json", "elsewhere.csv", true)}},
		{name: "a file that is named like a sidecar", about: "manifest-notes.json", so: []func(*stage.Stage){put("manifest-notes.json", "ours")}}, // MAN-12
		{name: "another run's marker", about: "_SUCCESS", so: []func(*stage.Stage){put("_SUCCESS", "xxh3:0123456789abcdef\n")}},
		{name: "a hidden file", about: ".doctor_probe", so: []func(*stage.Stage){put(".doctor_probe", "x")}},
		{name: "a nested prefix", about: "day=1/part-000001.csv", so: []func(*stage.Stage){put("day=1/part-000001.csv", "x")}},
		{name: "what was quarantined before", about: "_quarantine/r0/part-000001.csv", so: []func(*stage.Stage){put("_quarantine/r0/part-000001.csv", "x")}},
	} {
		for _, mode := range modes {
			t.Run(tc.name+", "+mode.name, func(t *testing.T) {
				s := abandoned(t, mode.set)
				for _, do := range tc.so {
					do(s)
				}
				body := s.Body("out/" + tc.about)
				s.MustPlan(s.Resume(1))
				kept := "out/" + contract.QuarantineName(s.RunID(1), tc.about)
				if got := s.Body(kept); (got != nil) != tc.moved || tc.moved && string(got) != string(body) {
					t.Errorf("%s holds %q, it was %q", kept, got, body)
				}
				if got := s.Body("out/" + tc.about); (got == nil) != (tc.moved || body == nil) {
					t.Errorf("%s holds %q", tc.about, got)
				}
				if again := s.Task(1, contract.BaseTaskID(0)).SupersededBy != ""; again != tc.again {
					t.Errorf("the task is done again: %v, want %v", again, tc.again)
				}
				if n := len(s.Queues.Pending(stage.ChunkQueue)); n != map[bool]int{true: 1}[tc.again] {
					t.Errorf("%d tasks are sent", n)
				}
				s.Settle(1)
				s.WantPublished("after the resume", 1)
			})
		}
	}
}

// The same prefix and the same table give the same decisions, in the same order.
func TestResumeDecidesTheSameTwice(t *testing.T) {
	var first []string
	for range 3 {
		s := abandoned(t, modes[0].set)
		for _, name := range []string{"z.txt", "a.txt", "part-000077.csv", "part-000001.csv"} {
			s.Put("out/"+name, "x")
		}
		var moves []string
		s.Around = func(op string, perform func() error) error {
			if strings.HasPrefix(op, "move ") || strings.HasPrefix(op, "Repair") {
				moves = append(moves, op)
			}
			return perform()
		}
		s.MustPlan(s.Resume(1))
		if first == nil {
			first = moves
		}
		if fmt.Sprint(moves) != fmt.Sprint(first) || len(moves) != 5 {
			t.Fatalf("once %v, and then %v", first, moves)
		}
	}
}

// M9 is best effort: a move that fails stops nothing, and what could not be
// moved stays where it is.
func TestQuarantineThatFailsStopsNothing(t *testing.T) {
	s := abandoned(t, modes[0].set)
	s.Put("out/notes.txt", "x")
	s.Put("out/part-000001.csv", "broken")
	s.Around = func(op string, perform func() error) error {
		if strings.HasPrefix(op, "move ") {
			return errors.New("access denied")
		}
		return perform()
	}
	s.MustPlan(s.Resume(1))
	s.Settle(1)
	s.WantPublished("after the resume", 1)
	for _, name := range []string{"out/notes.txt", "out/part-000001.csv"} {
		if s.Body(name) == nil {
			t.Errorf("%s is gone", name)
		}
	}
}

// A resume planner has seen a damaged part and sleeps. The part is restored, a
// newer resume publishes it, and it is damaged once more in the same way: the
// sleeper, whose repair is refused now, leaves it to the manifest that lists it.
func TestMoverThatWasOvertakenMovesNothingThatIsRecorded(t *testing.T) {
	s := abandoned(t, modes[0].set)
	intact := string(s.Body(second))
	s.Put(second, "5\n6\n7\n9\n")
	slept := false
	s.Around = func(op string, perform func() error) error {
		if slept || !strings.HasPrefix(op, "Repair") {
			return perform()
		}
		slept, s.Around = true, nil
		s.Put(second, intact)
		s.ExpireLeases()
		s.MustPlan(s.Resume(1))
		s.Settle(1)
		s.WantPublished("the newer resume", 1)
		s.Put(second, "5\n6\n7\n9\n")
		return perform()
	}
	_, _ = s.Plan(s.Resume(1))
	if moved := s.Keys("out/_quarantine/"); !slept || len(moved) > 0 {
		t.Fatalf("slept %v, quarantined: %v", slept, moved)
	}
}

// M6: data of another writer without any manifest is labelled.
func TestResumeLabelsALegacyPrefix(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   []func(s *stage.Stage)
		want bool
	}{
		{"nothing but the run's own parts", nil, false},
		{"a part of ours that nobody lists", []func(*stage.Stage){func(s *stage.Stage) { s.Put("out/part-000077.csv", "x") }}, false},
		{"another writer's file", []func(*stage.Stage){func(s *stage.Stage) { s.Put("out/orders_2024.csv", "x") }}, true},
		{"another writer's file, and a manifest", []func(*stage.Stage){func(s *stage.Stage) { s.Put("out/orders_2024.csv", "x") }, other("manifest.json", "elsewhere.csv", false)}, false},
	} {
		s := abandoned(t, modes[0].set)
		for _, do := range tc.so {
			do(s)
		}
		if answer := s.MustPlan(s.Resume(1)); answer.LegacyRun != tc.want {
			t.Errorf("%s: the planner answers %+v", tc.name, answer)
		}
	}
}

// Another run's marker in the prefix is no reason to refuse a resume.
func TestAnotherRunsMarkerOnlyWarns(t *testing.T) {
	s := published(t)
	s.MustPlan(s.Trigger(2))
	s.DropMessages()
	s.ExpireLeases()
	if answer := s.MustPlan(s.Resume(2)); answer.Status != wire.Started {
		t.Fatalf("the planner answers %+v", answer)
	}
	s.Settle(2)
	s.WantPublished("after the resume", 2)
}
