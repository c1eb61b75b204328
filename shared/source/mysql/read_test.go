package mysql

import (
	"io"
	"testing"

	"github.com/lapstrake/lapstrake/shared/source"
)

// count reads to the end.
func count(t testing.TB, s *Source, spec source.ReadSpec) int {
	t.Helper()
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	n := 0
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n += b.Rows
	}
}
