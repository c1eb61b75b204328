package rowbatchtest

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// Diff returns where two batches differ, "" if they are equal bit for bit: -0
// is not 0, and every NaN equals every other.
func Diff(want, got *rowbatch.Batch) string {
	if want.Rows != got.Rows || len(want.Columns) != len(got.Columns) {
		return fmt.Sprintf("%d rows of %d columns, want %d of %d", got.Rows, len(got.Columns), want.Rows, len(want.Columns))
	}
	for i := range want.Columns {
		if d := diff(&want.Columns[i], &got.Columns[i]); d != "" {
			return fmt.Sprintf("column %d, %s: %s", i, want.Columns[i].Type, d)
		}
	}
	return ""
}

func diff(want, got *rowbatch.Vector) string {
	if want.Len != got.Len || want.Nulls != got.Nulls {
		return fmt.Sprintf("%d values, %d of them NULL, want %d and %d", got.Len, got.Nulls, want.Len, want.Nulls)
	}
	d := first("validity byte", want.Valid, got.Valid, same)
	d += first("byte of bits", want.Bits, got.Bits, same)
	d += first("value", want.I16, got.I16, same)
	d += first("value", want.I32, got.I32, same)
	d += first("value", want.I64, got.I64, same)
	d += first("value", want.U64, got.U64, same)
	d += first("value", want.F32, got.F32, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b })
	d += first("value", want.F64, got.F64, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b })
	d += first("offset", want.Offsets, got.Offsets, same)
	if d != "" {
		return d
	}
	if want.Items != nil {
		return diff(want.Items, got.Items)
	}
	if !bytes.Equal(want.Data, got.Data) {
		for i := range want.Len {
			if w, g := want.Slice(i), got.Slice(i); !bytes.Equal(w, g) {
				return fmt.Sprintf("row %d is %q, want %q", i, g, w)
			}
		}
		return "bytes outside of the rows"
	}
	return ""
}

func same[T comparable](a, b T) bool { return a == b }

// first describes the first element that differs.
func first[T any](what string, want, got []T, equal func(a, b T) bool) string {
	if slices.EqualFunc(want, got, equal) {
		return ""
	}
	for i := range min(len(want), len(got)) {
		if !equal(want[i], got[i]) {
			return fmt.Sprintf("%s %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d of %s, want %d", len(got), what, len(want))
}
