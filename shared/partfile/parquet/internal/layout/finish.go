package layout

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
)

// Finish returns body as a part, after a reader that shares no code with the
// writers has found rows in its footer (I1): a part that lost a row must not
// become one.
func Finish(body []byte, rows int64) (partfile.Part, error) {
	found, err := countRows(body)
	if err != nil {
		return partfile.Part{}, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_PART_UNREADABLE", "the finished parquet file does not read back, nothing was stored")
	}
	if found != rows {
		return partfile.Part{}, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_PART_ROW_COUNT",
			"the finished parquet file has %d rows and %d were appended, nothing was stored", found, rows)
	}
	return partfile.Seal(body, rows), nil
}

// countRows reads the footer of a finished file and returns its rows, which
// are also those of its row groups.
func countRows(body []byte) (int64, error) {
	r, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var inGroups int64
	for i := range r.NumRowGroups() {
		inGroups += r.MetaData().RowGroup(i).NumRows()
	}
	if inGroups != r.NumRows() {
		return 0, fmt.Errorf("%d rows in the footer and %d in its row groups", r.NumRows(), inGroups)
	}
	return inGroups, nil
}

// Closed is the error of a writer that is used after Close.
func Closed() error {
	return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_WRITER_CLOSED", "parquet writer is used after Close")
}
