package rowbatch_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"pgregory.net/rapid"
)

// A batch that is copied piece by piece, cut anywhere, equals the original bit
// for bit, whatever was in the target before.
func TestAppendRowsOfAllPiecesGivesTheWhole(t *testing.T) {
	columns := rowbatchtest.AllTypes()
	rapid.Check(t, func(t *rapid.T) {
		want := rowbatchtest.Rows(columns, rapid.IntRange(0, 60).Draw(t, "rows"), rapid.Uint64().Draw(t, "seed"))
		got := rowbatchtest.Rows(columns, 3, 7)
		got.Reset()
		for at := 0; at < want.Rows; {
			next := rapid.IntRange(at, want.Rows).Draw(t, "next")
			got.AppendRows(want, at, next)
			at = next
		}
		if diff := rowbatchtest.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAppendRowsToAUsedBatchAllocatesNothing(t *testing.T) {
	from := rowbatchtest.Rows(rowbatchtest.AllTypes(), 500, 1)
	to := rowbatch.New(rowbatchtest.AllTypes())
	copyAll := func() {
		to.Reset()
		to.AppendRows(from, 0, from.Rows)
	}
	copyAll()
	if n := testing.AllocsPerRun(10, copyAll); n > 0 {
		t.Fatalf("%v allocations", n)
	}
}
