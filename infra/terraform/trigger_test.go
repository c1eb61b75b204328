package terraform

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/wire"
)

// accepted fails unless the planner takes a trigger of these fields: it refuses
// those that it does not know.
func accepted(t *testing.T, from string, fields map[string]any) {
	t.Helper()
	for name, value := range map[string]any{
		"export": "public.orders", "config_uri": "s3://acme-config/rivet.yaml", "scheduled_time": "2026-11-29T02:00:00Z",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s: the trigger has no %s", from, name)
		}
		fields[name] = value
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	trigger, err := wire.Decode[wire.Trigger](payload)
	if err != nil {
		t.Fatalf("%s: %s: %v", from, payload, err)
	}
	if trigger.Version != wire.Version || trigger.Action != wire.ActionRun {
		t.Errorf("%s: version %d, action %s", from, trigger.Version, trigger.Action)
	}
}

// stateMachines are those of the examples, by their files.
func stateMachines(t *testing.T) map[string]any {
	t.Helper()
	files, err := filepath.Glob("examples/*/*.asl.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("state machines: %v %v", files, err)
	}
	machines := make(map[string]any)
	for _, file := range files {
		var machine any
		if err := json.Unmarshal([]byte(read(t, file)), &machine); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		machines[file] = machine
	}
	return machines
}

func TestStateMachinesSendTriggersThatThePlannerTakes(t *testing.T) {
	for file, machine := range stateMachines(t) {
		payloads := find(machine, "Payload")
		if len(payloads) != 1 {
			t.Fatalf("%s calls the planner %d times", file, len(payloads))
		}
		fields := map[string]any{}
		for name, value := range payloads[0].(map[string]any) {
			fields[strings.TrimSuffix(name, ".$")] = value
		}
		fields["callback"] = map[string]any{"kind": "sfn", "token": "token"}
		accepted(t, file, fields)
		waits := find(machine, "HeartbeatSeconds")
		if len(waits) != 1 {
			t.Errorf("%s waits for its token without a heartbeat: it could hang", file)
		}
	}
}

// A gate lets through what it knows to be good, not what it does not know to be
// bad.
func TestGatesOfStateMachinesAreClosedUnlessTheyAreOpened(t *testing.T) {
	for file, machine := range stateMachines(t) {
		gates := slices.Concat(find(machine, "Gate"), find(machine, "Verdict"))
		if len(gates) == 0 {
			t.Errorf("%s has no gate", file)
		}
		for _, gate := range gates {
			if next := gate.(map[string]any)["Default"]; next != "TellFailure" && next != "Failed" {
				t.Errorf("%s: what no choice of a gate is about goes to %v", file, next)
			}
		}
	}
}

// find returns the values of a key, however deep.
func find(tree any, key string) []any {
	var all []any
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if name == key {
				all = append(all, value)
			} else {
				all = append(all, find(value, key)...)
			}
		}
	case []any:
		for _, value := range tree {
			all = append(all, find(value, key)...)
		}
	}
	return all
}

func TestSchedulesSendTriggersThatThePlannerTakes(t *testing.T) {
	trigger := argumentsOf(t, configuration(t, awsModule), "locals", "trigger")
	fields := map[string]any{}
	for _, m := range regexp.MustCompile(`(?m)^\s{8}(\w+)\s+= (.*)$`).FindAllStringSubmatch(trigger, -1) {
		var value any
		if json.Unmarshal([]byte(m[2]), &value) != nil {
			value = "reject"
		}
		fields[m[1]] = value
	}
	if fields["scheduled_time"] != "<aws.scheduler.scheduled-time>" {
		t.Errorf("a schedule names its run by %v", fields["scheduled_time"])
	}
	if strings.Contains(trigger, "{ params = ") {
		fields["params"] = map[string]any{"REGION": "eu"}
	}
	accepted(t, "schedules.tf", fields)
}
