package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestClassCodeAndExitCode(t *testing.T) { // OPS-17
	refused := New(Refused, "LAPSTRAKE_RUN_ALREADY_COMPLETE", "run r1 is complete")
	for _, tc := range []struct {
		name  string
		err   error
		class Class
		code  Code
		exit  int
	}{
		{"a plain error is tried again", errors.New("connection reset"), Retryable, "", ExitRetryable},
		{"the outermost class wins", Wrap(refused, Permanent, "", "resume"), Permanent, "LAPSTRAKE_RUN_ALREADY_COMPLETE", ExitGeneric},
		{"a wrap keeps class and code", fmt.Errorf("resume: %w", refused), Refused, "LAPSTRAKE_RUN_ALREADY_COMPLETE", ExitRefused},
		{"integrity", New(Integrity, "X", "x"), Integrity, "X", ExitIntegrity},
		{"a bug", New(Bug, "X", "x"), Bug, "X", ExitInternal},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ClassOf(tc.err); got != tc.class {
				t.Errorf("class %q, want %q", got, tc.class)
			}
			if got := CodeOf(tc.err); got != tc.code {
				t.Errorf("code %q, want %q", got, tc.code)
			}
			if got := ExitCode(tc.err); got != tc.exit {
				t.Errorf("exit %d, want %d", got, tc.exit)
			}
		})
	}
}

func TestWrapOfNilIsNil(t *testing.T) {
	if err := Wrap(nil, Bug, "X", "x"); err != nil {
		t.Fatalf("Wrap(nil) = %v", err)
	}
}

func TestFailureIsBoundedAndComesBack(t *testing.T) {
	f := FailureOf(New(Permanent, "LAPSTRAKE_SOURCE_GONE", "%s", "x"+strings.Repeat("ä", 5000))) // the limit is inside a character
	if len(f.Message) > 2010 || !utf8.ValidString(f.Message) {
		t.Fatalf("message of %d bytes is stored: …%q", len(f.Message), f.Message[1990:])
	}
	if got := ClassOf(f.Err()); got != Permanent {
		t.Fatalf("class %q after a round trip", got)
	}
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 50: 60 * time.Second} {
		low, high := Backoff(time.Second, attempt, 0), Backoff(time.Second, attempt, 0.999999)
		if low != want/2 || high > want || high <= low {
			t.Errorf("attempt %d: from %v to %v, want within (%v, %v]", attempt, low, high, want/2, want)
		}
	}
}
