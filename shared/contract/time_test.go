package contract

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimePrintsAsFewDigitsAsHoldTheValue(t *testing.T) {
	for want, nanos := range map[string]int{
		"2026-11-29T13:18:42+00:00": 0, "2026-11-29T13:18:42.100+00:00": 100_000_000, "2026-11-29T13:18:42.000001+00:00": 1_000, "2026-11-29T13:18:42.838221387+00:00": 838_221_387,
	} {
		if got := NewTime(time.Date(2026, 11, 29, 14, 18, 42, nanos, time.FixedZone("CET", 3600))).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTimeReadsAnyOffset(t *testing.T) {
	want := NewTime(time.Date(2026, 11, 29, 13, 18, 42, 0, time.UTC))
	for _, s := range []string{"2026-11-29T13:18:42Z", "2026-11-29T13:18:42+00:00", "2026-11-29T14:18:42.000+01:00", "2026-11-29T08:18:42-05:00"} {
		var got Time
		if err := json.Unmarshal([]byte(`"`+s+`"`), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{`"2026-11-29"`, `"2026-11-29 13:18:42Z"`, `"13:18"`, `""`, `1764422322`, `"2026-13-29T13:18:42Z"`, `"9999-12-31T23:59:59-01:00"`, `"0000-01-01T00:00:00+01:00"`} {
		var got Time
		if err := json.Unmarshal([]byte(s), &got); err == nil {
			t.Errorf("%s reads as %v", s, got)
		}
	}
}

func TestTimeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := NewTime(time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")))
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Time
		if err := json.Unmarshal(body, &got); err != nil || got != want {
			t.Fatalf("%s reads as %v, %v", body, got, err)
		}
	})
}
