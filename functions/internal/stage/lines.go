package stage

import (
	"bytes"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// Lines is a part format of one key a line, "null" for NULL: a stand-in that a
// test can read at a glance.
type Lines struct{}

// Check implements [partfile.Format].
func (Lines) Check(partfile.Options) error { return nil }

// New implements [partfile.Format].
func (Lines) New(partfile.Options) (partfile.Writer, error) { return &lineWriter{}, nil }

type lineWriter struct {
	body bytes.Buffer
	rows int64
}

// Append implements [partfile.Writer].
func (w *lineWriter) Append(b *rowbatch.Batch) error {
	for i := range b.Rows {
		if b.Columns[0].IsNull(i) {
			w.body.WriteString("null\n")
		} else {
			fmt.Fprintln(&w.body, b.Columns[0].I64[i])
		}
		w.rows++
	}
	return nil
}

// Size implements [partfile.Writer].
func (w *lineWriter) Size() int64 { return int64(w.body.Len()) }

// Rows implements [partfile.Writer].
func (w *lineWriter) Rows() int64 { return w.rows }

// Close implements [partfile.Writer].
func (w *lineWriter) Close() (partfile.Part, error) {
	body := w.body.Bytes()
	return partfile.Part{Body: body, Rows: w.rows, Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}, nil
}
