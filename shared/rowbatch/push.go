package rowbatch

import "encoding/binary"

// A source in a hurry may push: it adds a value to the buffer of the vector's
// type and leaves it to Complete to count the row. Most columns have no NULL and
// are counted once a batch. A vector is completed up to the row at hand before
// it is appended to, and before anybody reads it.

// PushWord adds a value to a Decimal vector of 16 bytes a row.
func (v *Vector) PushWord(unscaled int64) {
	v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(unscaled))
	v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(unscaled>>63))
}

// PushVarying adds a value to a vector with Data and Offsets.
func (v *Vector) PushVarying(x []byte) {
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
}

// Complete counts what was pushed as rows that are not NULL. The vector has so
// many rows then.
func (v *Vector) Complete(rows int) {
	if v.Len == rows {
		return
	}
	if rest := v.Len & 7; rest > 0 {
		v.Valid[v.Len>>3] |= 0xFF << rest
	}
	for 8*len(v.Valid) < rows {
		v.Valid = append(v.Valid, 0xFF)
	}
	v.Valid = cutBits(v.Valid, rows)
	v.Len = rows
}

// Rewind drops the rows after the first n, completed or not.
func (v *Vector) Rewind(n int) {
	if v.Len > n {
		v.truncate(n)
		return
	}
	v.cutValues(n)
}
