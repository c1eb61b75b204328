package simulation

import (
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

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
