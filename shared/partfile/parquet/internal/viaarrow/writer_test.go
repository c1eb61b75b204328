package viaarrow

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
)

// I1: the footer decides, not the writer's own count.
func TestAPartThatLostRowsIsNotReturned(t *testing.T) {
	w, err := New(partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(rowbatchtest.UpstreamRows(1, 10)); err != nil {
		t.Fatal(err)
	}
	w.(*writer).open.Truncate(9)
	if part, err := w.Close(); fault.CodeOf(err) != "LAPSTRAKE_INTERNAL_PART_ROW_COUNT" || part.Body != nil {
		t.Fatalf("%v, with a body of %d bytes", err, len(part.Body))
	}
}
