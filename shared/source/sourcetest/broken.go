package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// breaks cuts the connection after every number of bytes near the one that the
// end takes, and after some others. Only a read whose end was confirmed may end with io.EOF:
// not one that just had its last row (OPS-01).
func breaks(t *testing.T, f Fixture) {
	rel := numbers(t, f, "breaks", 12)
	direct := open(t, f)
	planned := byKey(describe(t, direct, rel))
	planned.BatchRows = 1
	want := read(t, direct, planned)

	p := newProxy(t, f.Address())
	attempt := func(after int64) (rows []string, err error) {
		p.breakAfter(-1)
		s := f.Open(t, p.address())
		defer s.Close(context.WithoutCancel(t.Context()))
		p.breakAfter(after)
		r, err := s.Read(t.Context(), planned)
		if err != nil {
			return nil, err
		}
		defer r.Close(t.Context())
		return drain(t.Context(), r)
	}
	rows, err := attempt(1 << 40)
	if err != io.EOF {
		t.Fatal(err)
	}
	sameRows(t, rows, want)
	total := p.passed()

	var lastRowOnly, whole int
	check := func(after int64) {
		rows, err := attempt(after)
		switch {
		case err == io.EOF && len(rows) == len(want):
			whole++
		case err == io.EOF:
			t.Fatalf("cut after %d of %d bytes: %d of %d rows and io.EOF", after, total, len(rows), len(want))
		case len(rows) == len(want):
			lastRowOnly++
			fallthrough
		default:
			wantFault(t, err, fault.Retryable)
		}
	}
	confirmed := int64(sort.Search(int(total), func(after int) bool {
		_, err := attempt(int64(after))
		return err == io.EOF
	}))
	for after := confirmed - 60; after < confirmed+3; after++ {
		check(after)
	}
	for part := int64(1); part < 12; part++ {
		check(total * part / 12)
	}
	if lastRowOnly == 0 || whole == 0 {
		t.Fatalf("%d reads had their last row but not the end, %d had both: the test does not look where it should", lastRowOnly, whole)
	}
}

// waits holds the server's bytes back, at once and in the middle of the rows,
// while the source waits for them.
func waits(t *testing.T, f Fixture) {
	rel := numbers(t, f, "waits", 2000)
	planned := byKey(describe(t, open(t, f), rel))
	planned.BatchRows = 1
	p := newProxy(t, f.Address())
	s := f.Open(t, p.address())
	p.breakAfter(-1)
	read(t, s, planned)
	total := p.passed()
	_ = s.Close(t.Context())
	// What a client library asks for in the background is not in every read.
	background := max(300, total/100)
	for _, after := range []int64{0, total / 2, total - background} {
		t.Run(fmt.Sprintf("after %d percent of the bytes", 100*after/total), func(t *testing.T) {
			p.breakAfter(-1)
			s := f.Open(t, p.address())
			defer func() {
				p.breakAfter(0) // what is held back is lost
				_ = s.Close(context.WithoutCancel(t.Context()))
			}()
			reason := errors.New("the test's own reason")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p.stallAfter(after, func() { cancel(reason) })
			r, err := s.Read(ctx, planned)
			if err == nil {
				defer r.Close(context.WithoutCancel(ctx))
				_, err = drain(ctx, r)
			}
			wantFault(t, err, fault.Retryable)
			if !errors.Is(err, reason) {
				t.Fatalf("%v is not %v", err, reason)
			}
		})
	}
	t.Run("at its deadline", func(t *testing.T) {
		s := open(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		r, err := s.Read(ctx, planned)
		if err == nil {
			defer r.Close(t.Context())
			_, err = drain(ctx, r)
		}
		wantFault(t, err, fault.Retryable)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v is not a deadline", err)
		}
	})
}

// closes leaves a reader in the middle and uses the source again.
func closes(t *testing.T, f Fixture) {
	rel := numbers(t, f, "closes", 200)
	s := open(t, f)
	planned := byKey(describe(t, s, rel))
	planned.BatchRows = 1
	r, err := s.Read(t.Context(), planned)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Next(t.Context()); err == nil || err == io.EOF {
		t.Fatalf("Next of a closed reader: %v", err)
	}
	if rows := read(t, s, planned); len(rows) != 200 {
		t.Fatalf("%d rows from the source that was used before", len(rows))
	}
}
