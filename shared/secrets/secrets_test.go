package secrets

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

type testClock struct{ now time.Time }

func (c *testClock) Now() time.Time                       { return c.now }
func (c *testClock) After(time.Duration) <-chan time.Time { return nil }

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte("S3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"crlf": "S3cr3t\r\n", "lines": "user\nS3cr3t\n", "empty": "\n", "huge": strings.Repeat("S3cr3t", maxFileBytes)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("LAPSTRAKE_T_PLAIN", "postgres://u:S3cr3t@db/shop")
	t.Setenv("LAPSTRAKE_T_REF", "store://shop")
	t.Setenv("LAPSTRAKE_T_EMPTY", "")
	r := New(&testClock{}, map[string]Provider{"store": ProviderFunc(func(_ context.Context, rest string) (string, error) {
		if rest == "empty" {
			return "", nil
		}
		return "from the store: " + rest, nil
	})})
	for _, tc := range []struct {
		ref, want string
		code      fault.Code
	}{
		{"env://LAPSTRAKE_T_PLAIN", "postgres://u:S3cr3t@db/shop", ""},
		{"env://LAPSTRAKE_T_REF", "from the store: shop", ""},
		{"env://LAPSTRAKE_T_EMPTY", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
		{"env://LAPSTRAKE_T_UNSET", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
		{"file://" + file, "S3cr3t", ""},
		{"file://" + dir + "/none", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
		{"file://" + dir + "/crlf", "S3cr3t", ""},
		{"file://" + dir + "/lines", "", "LAPSTRAKE_CONFIG_SECRET_LINES"},
		{"file://" + dir + "/empty", "", "LAPSTRAKE_CONFIG_SECRET_EMPTY"},
		{"file://" + dir + "/huge", "", "LAPSTRAKE_CONFIG_SECRET_TOO_LARGE"},
		{"store://empty", "", "LAPSTRAKE_CONFIG_SECRET_EMPTY"},
		{"vault://x", "", "LAPSTRAKE_CONFIG_SECRET_SCHEME"},
		{"S3cr3t", "", "LAPSTRAKE_CONFIG_SECRET_SCHEME"},
	} {
		got, err := r.Resolve(t.Context(), tc.ref)
		if got != tc.want || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v", tc.ref, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("%s: the error shows a secret: %v", tc.ref, err)
		}
	}
}

func TestStoreIsAskedAgainAfterItsTimeOrWhenForgotten(t *testing.T) {
	c := &testClock{now: time.Unix(0, 0)}
	reads, told := 0, 0
	r := New(c, map[string]Provider{"store": ProviderFunc(func(context.Context, string) (string, error) {
		reads++
		return "v", nil
	})}, func(value string) {
		if value == "v" {
			told++
		}
	})
	resolve := func(want int) {
		t.Helper()
		if _, err := r.Resolve(t.Context(), "store://x"); err != nil || reads != want {
			t.Fatalf("%d reads (%v), want %d", reads, err, want)
		}
	}
	resolve(1)
	resolve(1)
	c.now = c.now.Add(CacheTime)
	resolve(2)
	r.Forget()
	resolve(3)
	if told != reads {
		t.Errorf("told of %d values, %d were read", told, reads)
	}
}
