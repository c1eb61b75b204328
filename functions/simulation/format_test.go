package simulation

import (
	"bytes"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// lines is a part format of one key a line: a stand-in that a test can read at
// a glance.
type lines struct{}

// Check implements [partfile.Format].
func (lines) Check(partfile.Options) error { return nil }

// New implements [partfile.Format].
func (lines) New(partfile.Options) (partfile.Writer, error) { return &lineWriter{}, nil }

type lineWriter struct {
	body bytes.Buffer
	rows int64
}

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

func (w *lineWriter) Size() int64 { return int64(w.body.Len()) }

func (w *lineWriter) Rows() int64 { return w.rows }

func (w *lineWriter) Close() (partfile.Part, error) {
	body := w.body.Bytes()
	return partfile.Part{Body: body, Rows: w.rows, Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}, nil
}
