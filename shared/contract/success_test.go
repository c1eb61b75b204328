package contract

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// MAN-09: the upstream trims whitespace at the end; nothing else is let pass.
func TestParseSuccess(t *testing.T) {
	const f = "xxh3:2d06800538d394c2"
	for _, tc := range []struct {
		name string
		body string
		ok   bool
	}{
		{"the exact form", f + "\n", true},
		{"no final newline", f, true},
		{"CRLF", f + "\r\n", true},
		{"several newlines", f + "\n\n \t\f", true},
		{"empty", "", false},
		{"a newline only", "\n", false},
		{"two lines", f + "\n" + f + "\n", false},
		{"upper case", strings.ToUpper(f) + "\n", false},
		{"upper case digits", "xxh3:2D06800538D394C2\n", false},
		{"a byte order mark", "\uFEFF" + f + "\n", false},
		{"a leading space", " " + f, false},
		{"one digit too few", f[:20] + "\n", false},
		{"one digit too many", f + "0\n", false},
		{"a multi-byte character across the 21st byte", f[:20] + "é\n", false},
		{"wide digits", "xxh3:" + strings.Repeat("é", 8), false},
		{"another hash", "sha1:2d06800538d394c2\n", false},
		{"a vertical tab", f + "\v", false},
		{"no-break space", f + "\u00A0", false},
		{"a megabyte", strings.Repeat("x", 1<<20), false},
		{"a fingerprint and a megabyte of newlines", f + strings.Repeat("\n", 1<<20), false},
	} {
		got, err := ParseSuccess([]byte(tc.body))
		switch {
		case tc.ok && (err != nil || got != f):
			t.Errorf("%s: %q, %v", tc.name, got, err)
		case !tc.ok && (fault.CodeOf(err) != "LAPSTRAKE_DEST_SUCCESS_MALFORMED" || len(err.Error()) > 400):
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestSuccessBodyIsOfTheExactBytes(t *testing.T) {
	if got := string(SuccessBody([]byte("{}"))); got != "xxh3:1349cde127705c16\n" || len(got) != 22 {
		t.Errorf("%q", got)
	}
	if string(SuccessBody([]byte("{ }"))) == string(SuccessBody([]byte("{}"))) { // MAN-17
		t.Error("spaces do not matter")
	}
}

func FuzzParseSuccess(f *testing.F) {
	f.Add(SuccessBody(nil))
	f.Add([]byte("xxh3:\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ParseSuccess(body)
		if err != nil {
			return
		}
		if again, err := ParseSuccess([]byte(got + "\n")); err != nil || again != got || !strings.HasPrefix(string(body), string(got)) {
			t.Fatalf("%q parses to %q, that to %q, %v", body, got, again, err)
		}
	})
}
