// Package parquet writes parts as Parquet files. Layer: L2 (execution).
//
// A file is a function of its rows and options alone: not of how the rows were
// cut into batches, of the time or of the version of this program. Snappy has
// other code on other processors, whose files may differ in their bytes.
//
// There are two writers with one schema. The native one is the encoder of this
// project, for every type that there is. The other goes through arrow-go,
// which shares no encoding code with it: for those who want it, and for types
// that the native one does not know. Which one writes is decided by options and
// schema when a part is started, so that all parts of a run have one writer.
package parquet

import (
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/native"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/viaarrow"
)

// Format makes Parquet writers.
var Format partfile.Format = format{}

type format struct{}

func (format) Check(o partfile.Options) error {
	if _, err := layout.Level(o); err != nil {
		return err
	}
	if err := checkWords(o); err != nil {
		return err
	}
	return partfile.CheckColumns("parquet", o.Columns, partfile.CheckType)
}

// checkWords refuses what is neither a writer nor an encoding.
func checkWords(o partfile.Options) error {
	switch o.Writer {
	case "", partfile.NativeWriter, partfile.ArrowWriter:
	default:
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_PARQUET_WRITER_UNKNOWN", "parquet writer %q is neither native nor arrow", o.Writer)
	}
	switch o.Encoding {
	case "", partfile.CompatibleEncoding, partfile.CompactEncoding:
	default:
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_PARQUET_ENCODING_UNKNOWN", "parquet encoding %q is neither compatible nor compact", o.Encoding)
	}
	return nil
}

func (format) New(o partfile.Options) (partfile.Writer, error) {
	if o.Writer == partfile.ArrowWriter || !native.Knows(o.Columns) {
		return viaarrow.New(o)
	}
	return native.New(o)
}
