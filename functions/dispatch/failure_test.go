package dispatch_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// Wherever a long message is cut, no half of a secret is left before the cut.
func TestAFailureHoldsNoPartOfASecret(t *testing.T) {
	const secret = "c0rrect-horse-battery-staple"
	telemetry.Hide(secret)
	for before := 1900; before <= 2000; before++ {
		err := fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_AUTH", "%s%s is wrong", strings.Repeat("x", before), secret)
		if got := dispatch.Failure(err).Message; strings.Contains(got, secret[:4]) {
			t.Fatalf("with %d bytes before it, the message ends in %q", before, got[1890:])
		}
	}
}

func TestALongFailureIsCutBetweenCharacters(t *testing.T) {
	for n := range 4 {
		got := dispatch.Failure(fault.New(fault.Bug, "LAPSTRAKE_X", "%s%s", strings.Repeat("x", n), strings.Repeat("日", 2000))).Message
		if !utf8.ValidString(got) || len(got) > 2010 || !strings.HasSuffix(got, "日…") {
			t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-12:])
		}
	}
}
