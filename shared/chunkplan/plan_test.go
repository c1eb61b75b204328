package chunkplan

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// QUE-21: a function of one version meets the plan of another one. What it would
// leave out may be what decides which rows a task reads.
func TestAPlanOfAnotherVersionIsRefused(t *testing.T) {
	plan := Plan{
		PlanVersion: PlanVersion, RunID: "r1", Export: exportconfig.Export{Name: "orders", Format: "csv"},
		Columns: []rowtype.Column{{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}}}, Key: []keyspace.Column{{Name: "id"}},
		Tasks: []keyspace.Range{{UpTo: keyspace.Key{"7"}}, {After: keyspace.Key{"7"}}},
	}
	body, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, from, to string
		code           fault.Code
		class          fault.Class // of a refusal
		refused        bool
	}{
		{name: "its own"},
		{name: "white space at the end", from: "}\n", to: "} \n\n"},
		{name: "a field of the plan", from: `"run_id"`, to: `"only_every":7,"run_id"`, refused: true, code: "LAPSTRAKE_PLAN_FIELD_UNKNOWN", class: fault.Retryable},
		{name: "a field of the export", from: `"name":"orders"`, to: `"name":"orders","where":"id > 3"`, refused: true, code: "LAPSTRAKE_PLAN_FIELD_UNKNOWN", class: fault.Retryable},
		{name: "a field of a task", from: `{"up_to":`, to: `{"modulo":2,"up_to":`, refused: true, code: "LAPSTRAKE_PLAN_FIELD_UNKNOWN", class: fault.Retryable},
		{name: "a later version, with a field of its own", from: `"plan_version":1`, to: `"plan_version":2,"only_every":7`, refused: true, code: "LAPSTRAKE_PLAN_VERSION", class: fault.Permanent},
		{name: "an earlier version", from: `"plan_version":1`, to: `"plan_version":0`, refused: true, code: "LAPSTRAKE_PLAN_VERSION", class: fault.Permanent},
		{name: "two plans", from: "}\n", to: "}{}\n", refused: true, class: fault.Retryable},
		{name: "half a plan", from: `"tasks"`, to: "", refused: true, class: fault.Retryable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(string(body), tc.from, tc.to, 1)
			if tc.from == "}\n" {
				changed = strings.TrimSuffix(string(body), tc.from) + tc.to
			}
			got, err := Decode([]byte(changed))
			if !tc.refused {
				if err != nil || len(got.Tasks) != 2 || got.Tasks[1].After[0] != "7" {
					t.Errorf("%+v: %v", got, err)
				}
				return
			}
			if err == nil || fault.CodeOf(err) != tc.code || fault.ClassOf(err) != tc.class {
				t.Errorf("%v; want %s, %s", err, tc.class, tc.code)
			}
		})
	}
}
