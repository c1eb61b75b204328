// Package partfile turns batches into the bytes of finished parts. Layer: L2
// (execution).
//
// Writers live below this package: parquet and csv. Equal rows with equal
// options give equal bytes (reference §5.7).
package partfile

import (
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Options say how a part is written.
type Options struct {
	Columns []rowtype.Column
	// Compression is zstd, snappy, gzip, lz4 or none; Level 0 is the codec's
	// default (zstd 3, gzip 6).
	Compression string
	Level       int
	// RowGroupRows and RowGroupBytes, of uncompressed values, end a row group;
	// 0 is the writer's default.
	RowGroupRows  int64
	RowGroupBytes int64
	// ExpectedBytes is how many bytes a full part has, 0 if nobody knows: so
	// much is reserved once instead of being grown into.
	ExpectedBytes int64
	// Memory is what an earlier part has left, or nil.
	Memory *Memory
	// Writer and Encoding are of Parquet; "" is the default, native and
	// compatible. The arrow writer writes compatible encodings only.
	Writer   string
	Encoding string
}

// Memory is handed on from each part of a task to the next, so that a task has
// the memory of one part, and leaves no garbage between its parts. The zero value
// is empty. It is used by one goroutine.
type Memory struct {
	// Body is that of a part that nobody needs any more. The next part is written
	// over it.
	Body []byte
	// Workspace is what a writer had beside the body. Only writers of the same
	// format know it.
	Workspace Workspace
}

// Workspace is of no use after Release, which gives back what tasks to come can
// use of it.
type Workspace interface{ Release() }

// Release ends the task: what is left goes to those that come. m may be nil.
func (m *Memory) Release() {
	if m == nil || m.Workspace == nil {
		return
	}
	m.Workspace.Release()
	m.Workspace = nil
}

// TakeBody returns the body and leaves none. m may be nil.
func (m *Memory) TakeBody() []byte {
	if m == nil {
		return nil
	}
	body := m.Body
	m.Body = nil
	return body
}

// Values of Options.Writer and Options.Encoding.
const (
	NativeWriter       = "native"
	ArrowWriter        = "arrow"
	CompatibleEncoding = "compatible" // what every reader knows
	CompactEncoding    = "compact"    // with delta encodings, which old readers do not know
)

// Writer writes one part into memory. It is used by one goroutine. After an
// error it is of no use.
type Writer interface {
	// Append adds every row of b, which is not kept.
	Append(b *rowbatch.Batch) error

	// Size estimates how many bytes the part would have if it was closed now.
	// It never exceeds the final size by more than the rows still buffered
	// would compress.
	Size() int64

	// Rows is how many rows were appended.
	Rows() int64

	// Close finishes the part and returns it. The number of rows in the file's
	// own footer has been compared with Rows (I1). A writer without rows
	// returns a file without rows.
	Close() (Part, error)
}

// Format makes writers of one file format.
type Format interface {
	// Check refuses a column that the format cannot hold, naming every such
	// column, before any row is read (WRT-15).
	Check(o Options) error

	// New starts a part. The options have been checked.
	New(o Options) (Writer, error)
}

// Part is a finished part in memory. Body is not modified afterwards, unless
// its owner leaves it to the next part as memory.
type Part struct {
	Body        []byte
	Rows        int64
	Fingerprint contract.Fingerprint
	MD5         string
}
