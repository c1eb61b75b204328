package wiring

import (
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

func TestSettingsFromEnv(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		want Settings
		code fault.Code
	}{
		{"defaults", nil, Settings{Lease: 180 * time.Second, Heartbeat: 60 * time.Second, Sweep: 60 * time.Second}, ""},
		{"all set", map[string]string{"LAPSTRAKE_LEASE": "6s", "LAPSTRAKE_HEARTBEAT": "2s", "LAPSTRAKE_SWEEP": "1s"}, Settings{Lease: 6 * time.Second, Heartbeat: 2 * time.Second, Sweep: time.Second}, ""},
		{"no duration", map[string]string{"LAPSTRAKE_LEASE": "180"}, Settings{}, "LAPSTRAKE_CONFIG_SETTING"},
		{"a heartbeat that comes too late", map[string]string{"LAPSTRAKE_LEASE": "30s"}, Settings{}, "LAPSTRAKE_CONFIG_SETTING"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := SettingsFromEnv(func(k string) (string, bool) { v, ok := tc.env[k]; return v, ok })
			if fault.CodeOf(err) != tc.code || tc.code == "" && got != tc.want {
				t.Fatalf("%+v, %v; want %+v, %s", got, err, tc.want, tc.code)
			}
		})
	}
}

func TestLocationOf(t *testing.T) {
	dir := t.TempDir()
	for in, want := range map[string]string{"s3://b/p/": "s3 s3://b/p", dir: "local file://" + dir, "file://" + dir: "local file://" + dir} {
		at, err := LocationOf(in)
		if err != nil || at.Kind+" "+at.URI != want {
			t.Errorf("%s: %s %s (%v), want %s", in, at.Kind, at.URI, err, want)
		}
	}
	if _, err := LocationOf("gs://b/p"); fault.CodeOf(err) != "LAPSTRAKE_CLI_USAGE" {
		t.Errorf("gs:// gives %v", err)
	}
}
