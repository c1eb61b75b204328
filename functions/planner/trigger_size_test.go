package planner_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A trigger is kept with its run: one that the run's item has no room for is
// refused before anything is made.
func TestATriggerThatIsTooLargeStartsNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		with func(*wire.Trigger, string)
	}{
		{"params", func(t *wire.Trigger, s string) { t.Params = map[string]string{"X": s} }},
		{"a token", func(t *wire.Trigger, s string) { t.Callback = &wire.Callback{Kind: wire.StepFunctions, Token: s} }},
		{"an id", func(t *wire.Trigger, s string) { t.TriggerID = s }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			trigger := s.Trigger(1)
			tc.with(&trigger, strings.Repeat("x", wire.MaxTriggerBytes))
			if _, err := s.Plan(trigger); fault.CodeOf(err) != "LAPSTRAKE_RUN_TRIGGER_TOO_LARGE" {
				t.Errorf("answered %.200v", err)
			}
			if keys := s.Keys(""); len(keys) > 0 {
				t.Errorf("the destination holds %v", keys)
			}
			tc.with(&trigger, strings.Repeat("x", wire.MaxTriggerBytes/2))
			if _, err := s.Plan(trigger); err != nil {
				t.Errorf("half of it: %v", err)
			}
		})
	}
}
