// Package partfiletest is the suite that every part format passes. Layer: L2
// (execution), for tests.
package partfiletest

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Subject is a format under test.
type Subject struct {
	Format partfile.Format
	// Options have columns of every type that the format holds.
	Options partfile.Options
	// Refused are columns that Check refuses, each for itself.
	Refused []rowtype.Column
	// Read reads a finished part with another reader than the project's own.
	Read func(t *testing.T, body []byte, columns []rowtype.Column) *rowbatch.Batch
	// RowGroupBytes is how much the format may hold back before it encodes it,
	// when Options ask for 64 KiB: what Size may be off by.
	RowGroupBytes int64
}

// Run exercises the format.
func Run(t *testing.T, s Subject) {
	t.Run("every value comes back", s.valuesComeBack)
	t.Run("equal rows give equal bytes, however they are cut", s.deterministic)
	t.Run("a part knows what it is", s.identity)
	t.Run("columns of NULL and no rows", s.nothing)
	t.Run("an earlier part's memory is written over", s.memory)
	t.Run("size is an estimate of the part", s.size)
	t.Run("a batch that is not of the plan is refused", s.wrongBatches)
	t.Run("after an error or Close the writer is of no use", s.afterwards)
	t.Run("columns that do not fit are refused by name", s.check)
}

// Write writes the batches as one part, resetting and refilling each batch
// afterwards as a source would, so that a writer that kept one is found out.
func (s Subject) Write(t *testing.T, o partfile.Options, batches ...*rowbatch.Batch) partfile.Part {
	t.Helper()
	w := s.writer(t, o)
	for _, b := range batches {
		lent := rowbatch.New(o.Columns)
		lent.AppendRows(b, 0, b.Rows)
		if err := w.Append(lent); err != nil {
			t.Fatal(err)
		}
		lent.Reset()
		lent.AppendRows(rowbatchtest.Rows(o.Columns, min(b.Rows, 100), 99), 0, min(b.Rows, 100))
	}
	return s.close(t, w)
}

func (s Subject) writer(t *testing.T, o partfile.Options) partfile.Writer {
	t.Helper()
	if err := s.Format.Check(o); err != nil {
		t.Fatal(err)
	}
	w, err := s.Format.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (s Subject) close(t *testing.T, w partfile.Writer) partfile.Part {
	t.Helper()
	part, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// cut returns the rows of b in batches of these sizes, over and over.
func cut(columns []rowtype.Column, b *rowbatch.Batch, sizes ...int) []*rowbatch.Batch {
	var out []*rowbatch.Batch
	for at := 0; at < b.Rows; {
		n := min(sizes[len(out)%len(sizes)], b.Rows-at)
		piece := rowbatch.New(columns)
		piece.AppendRows(b, at, at+n)
		out = append(out, piece)
		at += n
	}
	return out
}

func (s Subject) valuesComeBack(t *testing.T) {
	for _, rows := range []int{1, 2, 40, 5000} {
		want := rowbatchtest.Rows(s.Options.Columns, rows, uint64(rows))
		part := s.Write(t, s.Options, cut(s.Options.Columns, want, 7, 1000, 1)...)
		if diff := rowbatchtest.Diff(want, s.Read(t, part.Body, s.Options.Columns)); diff != "" {
			t.Fatalf("%d rows: %s", rows, diff)
		}
	}
}

func (s Subject) deterministic(t *testing.T) {
	small := s.Options
	small.RowGroupRows, small.RowGroupBytes = 700, 200<<10
	rows := rowbatchtest.Rows(s.Options.Columns, 3000, 3)
	for name, o := range map[string]partfile.Options{"one row group": s.Options, "many row groups": small} {
		want := s.Write(t, o, rows)
		for _, sizes := range [][]int{{3000}, {1}, {1024}, {699, 1, 701}, {33, 4096}} {
			got := s.Write(t, o, cut(o.Columns, rows, sizes...)...)
			if got.Fingerprint != want.Fingerprint {
				t.Errorf("%s, batches of %v rows: %s, in one batch %s", name, sizes, got.Fingerprint, want.Fingerprint)
			}
		}
		if diff := rowbatchtest.Diff(rows, s.Read(t, want.Body, o.Columns)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func (s Subject) identity(t *testing.T) {
	rows := rowbatchtest.Rows(s.Options.Columns, 3000, 4)
	part := s.Write(t, s.Options, rows)
	if part.Rows != 3000 || part.Fingerprint != contract.FingerprintOf(part.Body) || part.MD5 != contract.MD5Base64(part.Body) {
		t.Errorf("%d rows, %s, MD5 %s", part.Rows, part.Fingerprint, part.MD5)
	}
	if cap(part.Body) > 2*len(part.Body) {
		t.Errorf("the body of %d bytes holds on to %d", len(part.Body), cap(part.Body))
	}
}

func (s Subject) nothing(t *testing.T) {
	part := s.Write(t, s.Options)
	if part.Rows != 0 || len(part.Body) == 0 {
		t.Errorf("no rows: %d rows, %d bytes", part.Rows, len(part.Body))
	}
	if got := s.Read(t, part.Body, s.Options.Columns); got.Rows != 0 {
		t.Errorf("no rows: %d come back", got.Rows)
	}
	part = s.Write(t, s.Options, rowbatch.New(s.Options.Columns))
	if part.Rows != 0 {
		t.Errorf("an empty batch: %d rows", part.Rows)
	}
	nulls := rowbatch.New(s.Options.Columns)
	for range 1500 {
		for i := range nulls.Columns {
			nulls.Columns[i].AppendNull()
		}
		nulls.Rows++
	}
	part = s.Write(t, s.Options, nulls)
	if diff := rowbatchtest.Diff(nulls, s.Read(t, part.Body, s.Options.Columns)); diff != "" {
		t.Errorf("NULL everywhere: %s", diff)
	}
}

// size closes a part after every few batches and compares it with what Size
// said just before.
func (s Subject) size(t *testing.T) {
	o := s.Options
	o.RowGroupBytes = 64 << 10
	rows := rowbatchtest.Rows(o.Columns, 3000, 5)
	batches := cut(o.Columns, rows, 100)
	for _, n := range []int{0, 1, 2, 10, 30} {
		w := s.writer(t, o)
		for i, b := range batches[:n] {
			before := w.Size()
			if err := w.Append(b); err != nil {
				t.Fatal(err)
			}
			if w.Rows() != int64(100*(i+1)) {
				t.Fatalf("%d rows after %d batches of 100", w.Rows(), i+1)
			}
			if w.Size() < before-s.RowGroupBytes {
				t.Errorf("size falls from %d to %d", before, w.Size())
			}
		}
		said := w.Size()
		is := int64(len(s.close(t, w).Body))
		if said > is+s.RowGroupBytes || n == 30 && said < is*2/3 {
			t.Errorf("%d batches: size says %d, the part has %d bytes", n, said, is)
		}
	}
}
