// Package inspect checks the structure of a Parquet file against the rows that
// it is to hold: what readers rely on when they skip pages, and what a mere
// comparison of values does not see. Layer: L2 (execution), for tests.
//
// It shares no code with the writers, their libraries' metadata included.
package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// object is a struct of Thrift's compact protocol: fields by number. Values are
// int64, bool, []byte, []any and object.
type object map[int16]any

func (o object) int(id int16) int64 {
	n, ok := o[id].(int64)
	if !ok {
		return -1 // nothing that is looked at here is negative
	}
	return n
}

func (o object) object(id int16) object {
	x, _ := o[id].(object)
	return x
}

func (o object) list(id int16) []any {
	x, _ := o[id].([]any)
	return x
}

func (o object) bytes(id int16) []byte {
	x, _ := o[id].([]byte)
	return x
}

// decoder reads the protocol from b.
type decoder struct {
	b   []byte
	err error
}

var errShort = errors.New("thrift: the bytes end inside of a value")

// decodeObject reads a struct and returns how many bytes it has.
func decodeObject(b []byte) (object, int, error) {
	d := decoder{b: b}
	o := d.object()
	return o, len(b) - len(d.b), d.err
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b) {
		d.err = errors.Join(d.err, errShort)
		return make([]byte, max(0, min(n, 8)))
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	d.take(max(n, 1))
	return x
}

func (d *decoder) varint() int64 {
	x := d.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (d *decoder) object() object {
	o := object{}
	last := int16(0)
	for d.err == nil {
		head := d.take(1)[0]
		if head == 0 {
			break
		}
		if head>>4 == 0 {
			last = int16(d.varint())
		} else {
			last += int16(head >> 4)
		}
		o[last] = d.value(head & 15)
	}
	return o
}

func (d *decoder) value(kind byte) any {
	switch kind {
	case 1, 2:
		return kind == 1
	case 3:
		return int64(int8(d.take(1)[0]))
	case 4, 5, 6:
		return d.varint()
	case 8:
		return d.take(int(d.uvarint()))
	case 9:
		return d.list()
	case 12:
		return d.object()
	}
	d.err = errors.Join(d.err, fmt.Errorf("thrift: type %d is not used in Parquet", kind))
	return nil
}

func (d *decoder) list() []any {
	head := d.take(1)[0]
	n := uint64(head >> 4)
	if n == 15 {
		n = d.uvarint()
	}
	out := []any{}
	for range n {
		if d.err != nil {
			break
		}
		if head&15 <= 2 { // booleans of a list have a byte each
			out = append(out, d.take(1)[0] == 1)
		} else {
			out = append(out, d.value(head&15))
		}
	}
	return out
}
