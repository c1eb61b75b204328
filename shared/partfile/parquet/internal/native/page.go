package native

import (
	"hash/crc32"

	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/codec"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/encoding"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/thrift"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// Numbers of the format's definition.
const (
	plain                = 0
	runLengths           = 3
	deltaBinaryPacked    = 5
	deltaLengthByteArray = 6
	dictionaryNumbers    = 8
	encodings            = 9 // one more than the greatest

	dataPage       = 0
	dictionaryPage = 2
)

// scratch is the memory that a page needs while it is encoded. All columns of a
// file share it.
type scratch struct {
	gatherer
	text       codec.Codec // thorough, for byte arrays that it makes shorter
	light      codec.Codec // for all else
	header     thrift.Writer
	body       []byte   // the page
	trial      []byte   // another way to encode it
	packed     []byte   // compressed
	arena      arena    // of the open row group's pages
	numbers    []uint32 // of its values in the dictionary
	defs, reps []uint32
	lengths    []int32
	bounds     bounds
	seen       []bool // which numbers it has
}

// compressed returns how many bytes body takes in the file.
func (s *scratch) compressed(with codec.Codec, body []byte) (int, error) {
	if len(body) == 0 {
		return 0, nil
	}
	var err error
	s.packed, err = with.Append(s.packed[:0], body)
	return len(s.packed), err
}

// page compresses a page and returns it: its header with the checksum of the
// bytes that follow, which is how a reader finds out that they have changed. It
// is a view until the arena is reset.
func (s *scratch) page(with codec.Codec, body []byte, kind, values, valueEncoding int32) (page []byte, header int, err error) {
	if s.packed, err = with.Append(s.packed[:0], body); err != nil {
		return nil, 0, err
	}
	w := &s.header
	w.Reset()
	w.Begin()
	w.Int32(1, kind)
	w.Int32(2, int32(len(body)))
	w.Int32(3, int32(len(s.packed)))
	w.Int32(4, int32(crc32.ChecksumIEEE(s.packed)))
	if kind == dictionaryPage {
		w.Open(7)
		w.Int32(1, values)
		w.Int32(2, valueEncoding)
	} else {
		w.Open(5)
		w.Int32(1, values)
		w.Int32(2, valueEncoding)
		w.Int32(3, runLengths)
		w.Int32(4, runLengths)
	}
	w.End()
	w.End()
	return s.arena.keep(w.Bytes(), s.packed), len(w.Bytes()), nil
}

// appendLevels appends the levels of the rows of v and returns the vector that
// has their values and the number of levels. A column that is not required has
// definition levels: 1 for a value and 0 for NULL; a list has 3 for an item, 2
// for a NULL item, 1 for a list without items and 0 for NULL. All are one less
// for a list that is required.
func (s *scratch) appendLevels(dst []byte, v *rowbatch.Vector, required bool) (out []byte, leaf *rowbatch.Vector, n int) {
	switch {
	case v.Items != nil:
		s.listLevels(v, required)
		dst = encoding.AppendLevels(dst, s.reps, 1)
		return encoding.AppendLevels(dst, s.defs, 2), v.Items, len(s.defs)
	case required:
	case v.Nulls == 0:
		dst = encoding.AppendSame(dst, 1, v.Len, 1)
	case v.Nulls == v.Len:
		dst = encoding.AppendSame(dst, 0, v.Len, 1)
	default:
		dst = encoding.AppendValidity(dst, v.Valid, v.Len)
	}
	return dst, v, v.Len
}

func (s *scratch) listLevels(v *rowbatch.Vector, required bool) {
	defs, reps := s.defs[:0], s.reps[:0]
	empty := uint32(1)
	if required {
		empty = 0
	}
	for row := range v.Len {
		first, last := v.ItemRange(row)
		if first == last {
			level := empty
			if v.IsNull(row) {
				level = 0
			}
			defs, reps = append(defs, level), append(reps, 0)
			continue
		}
		rep := uint32(0)
		for item := first; item < last; item++ {
			level := empty + 2
			if v.Items.IsNull(item) {
				level--
			}
			defs, reps = append(defs, level), append(reps, rep)
			rep = 1
		}
	}
	s.defs, s.reps = defs, reps
}
