package destination_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

func TestErrorsOfStoresHaveAClassAndACode(t *testing.T) {
	op := func(err error) error {
		return fmt.Errorf("publish: %w", &destination.OpError{Op: "create", Store: "s3://b", Key: "k", Err: err})
	}
	for _, tc := range []struct {
		name  string
		err   error
		class fault.Class
		code  fault.Code
	}{
		{"no access", op(fmt.Errorf("role x: %w", destination.ErrDenied)), fault.Permanent, "LAPSTRAKE_DEST_DENIED"},
		{"no bucket", op(destination.ErrNoBucket), fault.Permanent, "LAPSTRAKE_DEST_NO_BUCKET"},
		{"disk full", op(destination.ErrFull), fault.Permanent, "LAPSTRAKE_DEST_FULL"},
		{"an unsafe store", op(destination.ErrUnsafe), fault.Refused, "LAPSTRAKE_DEST_UNSAFE"},
		{"no answer", op(destination.ErrUndecided), fault.Retryable, "LAPSTRAKE_DEST_UNDECIDED"},
		{"an answer that the caller branches on", op(destination.ErrExists), fault.Retryable, ""},
		{"the driver knows better", op(fault.New(fault.Usage, "LAPSTRAKE_CONFIG_X", "x")), fault.Usage, "LAPSTRAKE_CONFIG_X"},
		{"the caller knows better", fault.Wrap(op(destination.ErrDenied), fault.Integrity, "LAPSTRAKE_RUN_X", "x"), fault.Integrity, "LAPSTRAKE_RUN_X"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if class, code := fault.ClassOf(tc.err), fault.CodeOf(tc.err); class != tc.class || code != tc.code {
				t.Errorf("class %q and code %q, want %q and %q", class, code, tc.class, tc.code)
			}
		})
	}
}

func TestErrorsThroughAPrefixNameTheWholePlaceAndTheRelativeKey(t *testing.T) {
	s := destination.Prefixed(destination.Prefixed(memory.New("memory://b", memory.LikeS3), "exports"), "orders/")
	_, _, err := s.Get(t.Context(), "manifest.json", 10)
	var op *destination.OpError
	if !errors.As(err, &op) || op.Store != "memory://b/exports/orders" || op.Key != "manifest.json" {
		t.Errorf("error is %v", err)
	}
	if want := "get manifest.json in memory://b/exports/orders: no such object"; err.Error() != want {
		t.Errorf("message is %q, want %q", err, want)
	}
}

func TestAnEmptyPrefixIsTheWholeStore(t *testing.T) {
	s := memory.New("memory://b", memory.LikeS3)
	if destination.Prefixed(s, "") != destination.Store(s) {
		t.Error("an empty prefix wraps the store")
	}
}

// Whatever the key, a prefixed store reads and writes below its prefix only.
func TestNoKeyLeavesThePrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := memory.New("memory://b", memory.LikeS3)
		s := destination.Prefixed(inner, "a/b")
		key := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", ".", "..", "/", "a", "b", "\x00", "é"}), 0, 6).Draw(t, "elements"), rapid.SampledFrom([]string{"", "/"}).Draw(t, "separator"))
		_, err := s.Create(t.Context(), key, []byte("x"), destination.Meta{})
		if (err == nil) != (destination.CheckKey(key) == nil) {
			t.Fatalf("create %q: %v, but CheckKey says %v", key, err, destination.CheckKey(key))
		}
		err = inner.List(t.Context(), "", func(o destination.Object) error {
			if o.Key != "a/b/"+key {
				return fmt.Errorf("key %q was stored at %q", key, o.Key)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
