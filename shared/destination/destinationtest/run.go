// Package destinationtest is the suite that every driver of package destination
// passes. Layer: L2 (execution), used by tests only.
package destinationtest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Run exercises a driver, directly and through [destination.Prefixed]. open
// returns an empty store of its own for each call, and registers its clean-up
// with t.
func Run(t *testing.T, open func(t *testing.T) destination.Store) {
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
	t.Run("through Prefixed", func(t *testing.T) {
		for _, tc := range tests {
			t.Run(tc.name, func(t *testing.T) {
				bucket := open(t)
				// A neighbour whose name starts the same must never be seen (DST-03).
				put(t, bucket, "exports/orders_archive/part-000001.parquet", []byte("not ours"))
				tc.run(t, destination.Prefixed(bucket, "exports/orders"))
				if got := get(t, bucket, "exports/orders_archive/part-000001.parquet"); string(got) != "not ours" {
					t.Errorf("the neighbour's object holds %q", got)
				}
			})
		}
	})
}

var tests = []struct {
	name string
	run  func(t *testing.T, s destination.Store)
}{
	{"create stores a whole object once", testCreate},
	{"replace follows the version", testReplace},
	{"an earlier version of equal bytes is what the capabilities say", testABA},
	{"the key of a missing object is not found", testNotFound},
	{"get reads up to its limit", testGetLimit},
	{"the caller keeps its buffers", testBuffers},
	{"bodies of every size come back", testSizes},
	{"metadata is kept or not as the capabilities say", testMeta},
	{"checksums are verified and reported as the capabilities say", testChecksums}, // DST-01
	{"keys with odd characters come back as they are", testOddKeys},
	{"keys that no store could keep are refused", testInvalidKeys},
	{"list follows the byte order of whole keys", testListOrder},
	{"list reads 2,001 objects", testListMany}, // DST-02
	{"list ends with the error of its function", testListError},
	{"list takes a folder or the start of a name", testListPrefix},
	{"the version of a listing is good for a write", testListVersion},
	{"move never overwrites", testMove},
	{"a move that was cut short is completed", testMoveAgain},
	{"of 24 creates at once one wins", testCreateRace},
	{"of 24 replaces at once one wins", testReplaceRace},
	{"a reader never sees a part of an object", testWholeObjects},
	{"a cancelled context is an error, not an answer", testCancelled},
}

// RunMissing checks what a store says whose bucket or folder does not exist:
// at once, and by name (DST-16). open may fail already.
func RunMissing(t *testing.T, open func(t *testing.T) (destination.Store, error)) {
	for name, call := range map[string]func(ctx context.Context, s destination.Store) error{
		"create": func(ctx context.Context, s destination.Store) error {
			_, err := s.Create(ctx, "key", []byte("x"), destination.Meta{})
			return err
		},
		"replace": func(ctx context.Context, s destination.Store) error {
			_, err := s.Replace(ctx, "key", destination.Absent, []byte("x"), destination.Meta{})
			return err
		},
		"get": func(ctx context.Context, s destination.Store) error {
			_, _, err := s.Get(ctx, "key", 10)
			return err
		},
		"head": func(ctx context.Context, s destination.Store) error {
			_, err := s.Head(ctx, "key")
			return err
		},
		"list": func(ctx context.Context, s destination.Store) error {
			return s.List(ctx, "", func(destination.Object) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err == nil {
				err = call(t.Context(), s)
			}
			wantCause(t, err, destination.ErrNoBucket)
		})
	}
}

// put creates key, which must not exist.
func put(t *testing.T, s destination.Store, key string, body []byte) destination.Version {
	t.Helper()
	v, err := s.Create(t.Context(), key, body, destination.Meta{ContentType: "application/octet-stream"})
	if err != nil {
		t.Fatalf("create %.60q: %v", key, err)
	}
	if v == destination.Absent {
		t.Fatalf("create %.60q returned no version", key)
	}
	return v
}

func get(t *testing.T, s destination.Store, key string) []byte {
	t.Helper()
	body, v, err := s.Get(t.Context(), key, 64<<20)
	if err != nil {
		t.Fatalf("get %.60q: %v", key, err)
	}
	if v == destination.Absent {
		t.Fatalf("get %.60q returned no version", key)
	}
	return body
}

func wantBody(t *testing.T, s destination.Store, key, want string) {
	t.Helper()
	if got := get(t, s, key); !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s holds %.60q, want %.60q", key, got, want)
	}
}

// wantCause checks the cause and that the error is an OpError, whose message
// names what failed.
func wantCause(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
	var op *destination.OpError
	if !errors.As(err, &op) || op.Op == "" || op.Store == "" {
		t.Fatalf("error %v does not say which operation on which store failed", err)
	}
}

func keys(t *testing.T, s destination.Store, prefix string) []string {
	t.Helper()
	var out []string
	err := s.List(t.Context(), prefix, func(o destination.Object) error {
		out = append(out, o.Key)
		return nil
	})
	if err != nil {
		t.Fatalf("list %.60q: %v", prefix, err)
	}
	return out
}

// describe returns the metadata that a caller sends with body.
func describe(body []byte) destination.Meta {
	return destination.Meta{
		ContentType: "application/octet-stream",
		Fingerprint: contract.FingerprintOf(body),
		MD5:         contract.MD5Base64(body),
	}
}
