// Package dictionary numbers the distinct values of a column in the order in
// which they come. Layer: L2 (execution).
//
// A lookup allocates nothing once the tables have grown; Reset keeps them. The
// hash is the same in every process, so that equal values get equal numbers.
package dictionary

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	firstSlots = 1 << 10
	mixer      = 0x9E3779B97F4A7C15 // 2^64 by the golden ratio: spreads neighbours
)

// Words numbers integers, or the bits of floats.
type Words[T int32 | int64] struct {
	Values []T
	slots  []uint32 // a value's number and one more, by its hash; 0 is free
	shift  int      // leaves as many bits of a hash as there are slots
}

// Reset forgets all values.
func (d *Words[T]) Reset() {
	d.Values = d.Values[:0]
	if d.slots == nil {
		d.slots = make([]uint32, firstSlots)
	}
	clear(d.slots)
	d.shift = 64 - bits.Len(uint(len(d.slots)-1))
}

// Lookup appends the numbers of values, giving new ones their own.
func (d *Words[T]) Lookup(numbers []uint32, values []T) []uint32 {
	var last T
	var number uint32 // and one more, of last; 0 before the first
	for _, x := range values {
		if number == 0 || x != last {
			number, last = d.number(x), x
		}
		numbers = append(numbers, number-1)
	}
	return numbers
}

// number returns the number of x and one more.
func (d *Words[T]) number(x T) uint32 {
	mask := uint32(len(d.slots) - 1)
	for at := d.hash(x); ; at++ {
		n := d.slots[at&mask]
		switch {
		case n == 0:
			d.Values = append(d.Values, x)
			n = uint32(len(d.Values))
			d.slots[at&mask] = n
			if 2*len(d.Values) > len(d.slots) {
				d.grow()
			}
			return n
		case d.Values[n-1] == x:
			return n
		}
	}
}

func (d *Words[T]) hash(x T) uint32 {
	h := uint64(x) // of 32 bits too: the sign fills the upper half
	h ^= h >> 32
	return uint32(h * mixer >> d.shift)
}

func (d *Words[T]) grow() {
	d.slots = make([]uint32, 4*len(d.slots))
	d.shift -= 2
	mask := uint32(len(d.slots) - 1)
	for i, x := range d.Values {
		at := d.hash(x)
		for d.slots[at&mask] != 0 {
			at++
		}
		d.slots[at&mask] = uint32(i + 1)
	}
}

// Bytes numbers byte strings.
type Bytes struct {
	Data    []byte
	Offsets []int32 // of the values in Data, and its end
	slots   []slot
}

// slot has the number of a value and one more, 0 if it is free.
type slot struct{ hash, number uint32 }

// Reset forgets all values.
func (d *Bytes) Reset() {
	d.Data, d.Offsets = d.Data[:0], append(d.Offsets[:0], 0)
	if d.slots == nil {
		d.slots = make([]slot, firstSlots)
	}
	clear(d.slots)
}

// Len is how many values there are.
func (d *Bytes) Len() int { return len(d.Offsets) - 1 }

// Value returns the value with this number: a view until the next call.
func (d *Bytes) Value(number uint32) []byte { return d.Data[d.Offsets[number]:d.Offsets[number+1]] }

// Lookup appends the numbers of the values that stand in data between offsets,
// giving new ones their own.
func (d *Bytes) Lookup(numbers []uint32, data []byte, offsets []int32) []uint32 {
	for i := range len(offsets) - 1 {
		numbers = append(numbers, d.number(data[offsets[i]:offsets[i+1]]))
	}
	return numbers
}

func (d *Bytes) number(value []byte) uint32 {
	h := hash(value)
	mask := uint32(len(d.slots) - 1)
	for at := h; ; at++ {
		s := &d.slots[at&mask]
		switch {
		case s.number == 0:
			d.Data = append(d.Data, value...)
			d.Offsets = append(d.Offsets, int32(len(d.Data)))
			n := uint32(d.Len())
			*s = slot{hash: h, number: n}
			if 2*d.Len() > len(d.slots) {
				d.grow()
			}
			return n - 1
		case s.hash == h && string(d.Value(s.number-1)) == string(value):
			return s.number - 1
		}
	}
}

func (d *Bytes) grow() {
	old := d.slots
	d.slots = make([]slot, 4*len(old))
	mask := uint32(len(d.slots) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		at := s.hash
		for d.slots[at&mask].number != 0 {
			at++
		}
		d.slots[at&mask] = s
	}
}

// hash has a short way for codes and flags, which are most of what has a
// dictionary.
func hash(value []byte) uint32 {
	var x uint64
	switch n := len(value); {
	case n > 8:
		return uint32(xxh3.Hash(value))
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(value)) | uint64(binary.LittleEndian.Uint32(value[n-4:]))<<32
	case n > 0:
		x = uint64(value[0]) | uint64(value[n>>1])<<8 | uint64(value[n-1])<<16
	}
	high, low := bits.Mul64(x^uint64(len(value))<<56^mixer, mixer|1)
	return uint32(high ^ low)
}
