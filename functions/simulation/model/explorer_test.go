package model

import (
	"slices"
	"testing"
)

// counters is two processes that each add 1 to a shared value in two steps: one
// of the additions can be lost.
type counters struct {
	value uint8
	at    [2]uint8
	read  [2]uint8
}

func lostUpdate(violated func(from, to counters) string, ended func(counters) string) Model[counters] {
	return Model[counters]{
		Steps: func(s counters, emit Emit[counters]) {
			for i, who := range [...]string{"one", "other"} {
				to := s
				to.at[i]++
				switch s.at[i] {
				case 0:
					to.read[i] = s.value
					emit(to, who, "reads")
				case 1:
					to.value = s.read[i] + 1
					emit(to, who, "writes")
				}
			}
		},
		Violated: violated,
		Ended:    ended,
	}
}

func TestExploreVisitsEveryStateOnce(t *testing.T) {
	got := lostUpdate(nil, nil).Explore(1000)
	// Two processes of three places each, and what they have read and written.
	if got.States != 13 || !got.Closed || got.Violated != "" {
		t.Errorf("%d states, closed %v, %q; want 13, true, none", got.States, got.Closed, got.Violated)
	}
}

func TestExploreStopsAtItsBound(t *testing.T) {
	got := lostUpdate(nil, nil).Explore(5)
	if got.Closed || got.States <= 5 {
		t.Errorf("%d states, closed %v; want more than 5, not closed", got.States, got.Closed)
	}
}

func TestExploreTellsTheShortestTrace(t *testing.T) {
	for _, tc := range []struct {
		name  string
		model Model[counters]
		want  []string
	}{
		{
			"a step breaks a property",
			lostUpdate(func(from, to counters) string {
				if from.value == 1 && to.value == 1 && to.at != from.at && to.at == [2]uint8{2, 2} {
					return "an addition is lost"
				}
				return ""
			}, nil),
			[]string{"one: reads", "other: reads", "one: writes", "other: writes"},
		},
		{
			"the last state breaks a property",
			lostUpdate(nil, func(s counters) string {
				if s.value == 2 {
					return "nothing is lost"
				}
				return ""
			}),
			[]string{"one: reads", "one: writes", "other: reads", "other: writes"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.model.Explore(1000)
			if got.Violated == "" || got.Closed || !slices.Equal(got.Trace, tc.want) {
				t.Errorf("%q, closed %v, by %q; want a violation by %q", got.Violated, got.Closed, got.Trace, tc.want)
			}
		})
	}
}

// A set that confused two states, or lost some while it grew, would close early.
func TestExploreKeepsManyStatesApart(t *testing.T) {
	type pair struct{ a, b uint16 }
	m := Model[pair]{Steps: func(s pair, emit Emit[pair]) {
		if s.a < 299 {
			emit(pair{s.a + 1, s.b}, "a", "counts")
		}
		if s.b < 299 {
			emit(pair{s.a, s.b + 1}, "b", "counts")
		}
	}}
	if got := m.Explore(1_000_000); got.States != 300*300 || !got.Closed {
		t.Errorf("%d states, closed %v; want %d, true", got.States, got.Closed, 300*300)
	}
}
