package destinationtest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
)

func testCreate(t *testing.T, s destination.Store) {
	v := put(t, s, "_lapstrake/orders/cursor.json", []byte("first"))
	_, err := s.Create(t.Context(), "_lapstrake/orders/cursor.json", []byte("second"), destination.Meta{})
	wantCause(t, err, destination.ErrExists)
	_, err = s.Create(t.Context(), "_lapstrake/orders/cursor.json", []byte("first"), destination.Meta{})
	wantCause(t, err, destination.ErrExists) // equal bytes are no success either: the caller decides
	body, at, err := s.Get(t.Context(), "_lapstrake/orders/cursor.json", 100)
	if err != nil || string(body) != "first" || at != v {
		t.Errorf("get = %q at version %q, %v; want first at %q", body, at, err, v)
	}
	o, err := s.Head(t.Context(), "_lapstrake/orders/cursor.json")
	if err != nil || o.Key != "_lapstrake/orders/cursor.json" || o.Size != 5 || o.Version != v {
		t.Errorf("head = %+v, %v; want 5 bytes at version %q", o, err, v)
	}
	var op *destination.OpError
	_, err = s.Create(t.Context(), "_lapstrake/orders/cursor.json", nil, destination.Meta{})
	if !errors.As(err, &op) || op.Op != "create" || op.Key != "_lapstrake/orders/cursor.json" {
		t.Errorf("error is %#v, want one of create and its key", err)
	}
}

func testReplace(t *testing.T, s destination.Store) {
	ctx := t.Context()
	_, err := s.Replace(ctx, "manifest.json", "no-such-version", []byte("x"), destination.Meta{})
	wantCause(t, err, destination.ErrMoved)
	v1, err := s.Replace(ctx, "manifest.json", destination.Absent, []byte("one"), destination.Meta{})
	if err != nil {
		t.Fatalf("replace of nothing: %v", err)
	}
	_, err = s.Replace(ctx, "manifest.json", destination.Absent, []byte("again"), destination.Meta{})
	wantCause(t, err, destination.ErrMoved)
	wantBody(t, s, "manifest.json", "one")
	v2, err := s.Replace(ctx, "manifest.json", v1, []byte("two"), destination.Meta{})
	if err != nil || v2 == v1 {
		t.Fatalf("replace = %q, %v; want a version other than %q", v2, err, v1)
	}
	_, err = s.Replace(ctx, "manifest.json", v1, []byte("late"), destination.Meta{})
	wantCause(t, err, destination.ErrMoved)
	wantBody(t, s, "manifest.json", "two")
	if o, err := s.Head(ctx, "manifest.json"); err != nil || o.Version != v2 {
		t.Errorf("head = %+v, %v; want version %q", o, err, v2)
	}
}

func testABA(t *testing.T, s destination.Store) {
	ctx := t.Context()
	first := put(t, s, "k", []byte("A"))
	v, err := s.Replace(ctx, "k", first, []byte("B"), destination.Meta{})
	if err == nil {
		v, err = s.Replace(ctx, "k", v, []byte("A"), destination.Meta{})
	}
	if err != nil {
		t.Fatal(err)
	}
	unique := s.Capabilities().VersionIsUnique
	if same := v == first; same == unique {
		t.Fatalf("after A, B, A the version is %q, at first it was %q; VersionIsUnique is %v", v, first, unique)
	}
	_, err = s.Replace(ctx, "k", first, []byte("C"), destination.Meta{})
	if unique {
		wantCause(t, err, destination.ErrMoved)
	} else if err != nil {
		t.Fatalf("replace at a version that equal bytes have: %v", err)
	}
}

func testBuffers(t *testing.T, s destination.Store) {
	body := []byte("before")
	put(t, s, "k", body)
	copy(body, "AFTER!")
	got := get(t, s, "k")
	if string(got) != "before" {
		t.Fatalf("the store kept the caller's buffer: %q", got)
	}
	copy(got, "AFTER!")
	wantBody(t, s, "k", "before")
}

func testSizes(t *testing.T, s destination.Store) {
	big := make([]byte, 16<<20)
	for i := range big {
		big[i] = byte(i ^ i>>8 ^ i>>16)
	}
	for _, tc := range []struct {
		key  string
		body []byte
	}{
		{"empty", []byte{}},
		{"one byte", []byte{0}},
		{"16 MiB", big},
	} {
		v, err := s.Create(t.Context(), tc.key, tc.body, describe(tc.body))
		if err != nil {
			t.Fatalf("%s: %v", tc.key, err)
		}
		body, at, err := s.Get(t.Context(), tc.key, int64(len(tc.body)))
		if err != nil || !bytes.Equal(body, tc.body) || at != v {
			t.Errorf("%s: got %d bytes at version %q, %v; want %d at %q", tc.key, len(body), at, err, len(tc.body), v)
		}
		if o, err := s.Head(t.Context(), tc.key); err != nil || o.Size != int64(len(tc.body)) {
			t.Errorf("%s: head = %+v, %v", tc.key, o, err)
		}
	}
}

func testCancelled(t *testing.T, s destination.Store) {
	v := put(t, s, "there", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"create":  func() error { _, err := s.Create(ctx, "k", []byte("x"), destination.Meta{}); return err },
		"replace": func() error { _, err := s.Replace(ctx, "there", v, []byte("y"), destination.Meta{}); return err },
		"get":     func() error { _, _, err := s.Get(ctx, "k", 10); return err },
		"head":    func() error { _, err := s.Head(ctx, "k"); return err },
		"list":    func() error { return s.List(ctx, "", func(destination.Object) error { return nil }) },
		"move":    func() error { return s.Move(ctx, "there", "k", v) },
	} {
		if err := call(); !errors.Is(err, context.Canceled) || errors.Is(err, destination.ErrNotFound) {
			t.Errorf("%s: error is %v, want context.Canceled", name, err)
		}
	}
	wantBody(t, s, "there", "x")
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, destination.ErrNotFound) {
		t.Errorf("a cancelled call left an object: %v", err)
	}
}
