package wiring

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Settings are the times that a deployment may set (architecture §2.8). They
// decide how soon lost work is found, never whether a result is right.
type Settings struct {
	// Lease is how long a claimed chunk is left alone without a heartbeat.
	Lease time.Duration
	// Heartbeat is how often a worker says that it is alive.
	Heartbeat time.Duration
	// Sweep is how often a process of one's own looks after its runs.
	Sweep time.Duration
}

// SettingsFromEnv reads LAPSTRAKE_LEASE, LAPSTRAKE_HEARTBEAT and
// LAPSTRAKE_SWEEP, durations such as "180s". Those that are not set are 180,
// 60 and 60 seconds.
func SettingsFromEnv(lookup func(string) (string, bool)) (Settings, error) {
	s := Settings{Lease: 180 * time.Second, Heartbeat: 60 * time.Second, Sweep: 60 * time.Second}
	for name, d := range map[string]*time.Duration{"LAPSTRAKE_LEASE": &s.Lease, "LAPSTRAKE_HEARTBEAT": &s.Heartbeat, "LAPSTRAKE_SWEEP": &s.Sweep} {
		text, _ := lookup(name)
		if err := durationSetting(name, text, d); err != nil {
			return s, err
		}
	}
	if s.Heartbeat >= s.Lease {
		return s, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SETTING", "LAPSTRAKE_HEARTBEAT (%v) has to be shorter than LAPSTRAKE_LEASE (%v)", s.Heartbeat, s.Lease)
	}
	return s, nil
}

// durationSetting reads a positive duration, and leaves d alone when there is
// none.
func durationSetting(name, text string, d *time.Duration) error {
	if text == "" {
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SETTING", "%s=%q is not a duration such as 60s", name, text)
	}
	*d = v
	return nil
}
