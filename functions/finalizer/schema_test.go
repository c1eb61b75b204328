package finalizer_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/notify"
)

// Whoever is told of a run hears when it has other columns than its prefix
// showed before, and the run's report says so too.
func TestARunWithOtherColumnsSaysSo(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(s *stage.Stage) // between the two runs
		want bool
	}{
		{"the same columns", func(*stage.Stage) {}, false},
		{"other columns", func(s *stage.Stage) {
			m := s.Manifest("out/" + contract.ManifestName)
			s.Put("out/"+contract.ManifestName, strings.Replace(string(s.Body("out/"+contract.ManifestName)), string(m.SchemaFingerprint), "xxh3:00000000000000aa", 1))
		}, true},
		{"a manifest of a writer that knows no columns", func(s *stage.Stage) {
			m := s.Manifest("out/" + contract.ManifestName)
			s.Put("out/"+contract.ManifestName, strings.Replace(string(s.Body("out/"+contract.ManifestName)), string(m.SchemaFingerprint), "", 1))
		}, false},
		{"no manifest at all", func(s *stage.Stage) { s.Lose("out/" + contract.ManifestName) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			s.Settle(1)
			tc.edit(s)
			s.MustPlan(s.Trigger(2))
			s.Settle(2)
			told := map[contract.RunID]bool{}
			for _, e := range s.Events {
				if e.Kind == notify.RunEnded && e.Status == "success" {
					told[e.RunID] = e.SchemaChanged
				}
			}
			if changed, ok := told[s.RunID(2)]; !ok || changed != tc.want || told[s.RunID(1)] {
				t.Errorf("told of changed columns: %v, want it of run 2: %v", told, tc.want)
			}
			report := string(s.Body("_lapstrake/orders/runs/" + string(s.RunID(2)) + "/summary.json"))
			if got := strings.Contains(report, `"schema_changed": true`); got != tc.want || !strings.Contains(report, `"schema_changed"`) {
				t.Errorf("the report says so: %v, want %v", got, tc.want)
			}
		})
	}
}
