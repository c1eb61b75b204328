package postgres

import (
	"encoding/binary"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// appendArray decodes an array of one dimension, or of none, which is empty.
// Where its subscripts start is not part of its value.
func appendArray(w wire, elem uint32, v *rowbatch.Vector, b []byte) error {
	if len(b) < 12 {
		return errLayout
	}
	dimensions := binary.BigEndian.Uint32(b)
	switch {
	case dimensions > 1 && dimensions <= 6:
		return errDimensions
	case dimensions > 1 || binary.BigEndian.Uint32(b[8:]) != elem:
		return errLayout
	case dimensions == 0:
		v.EndList()
		return nil
	case len(b) < 20:
		return errLayout
	}
	n := int32(binary.BigEndian.Uint32(b[12:]))
	b = b[20:]
	for ; n > 0; n-- {
		if len(b) < 4 {
			return errLayout
		}
		size := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		if size == -1 {
			v.Items.AppendNull()
			continue
		}
		if size < 0 || int64(size) > int64(len(b)) {
			return errLayout
		}
		if err := appendValue(w, v.Items, b[:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	if n < 0 || len(b) > 0 {
		return errLayout
	}
	v.EndList()
	return nil
}
