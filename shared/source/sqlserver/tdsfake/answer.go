package tdsfake

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// Bits of the status at the end of a result.
const (
	doneMore      = 1
	doneError     = 2
	doneCount     = 0x10
	doneAttention = 0x20
)

// collation is SQL_Latin1_General_CP1_CI_AS.
var collation = []byte{0x09, 0x04, 0xD0, 0x00, 0x34}

// answer buffers what a client is answered, and cuts it into packets.
type answer struct {
	c      *conn
	buffer []byte
	number byte
	err    error
}

// flush sends the full packets.
func (a *answer) flush() {
	for size := a.c.packet - 8; a.err == nil && len(a.buffer) > size; {
		a.send(size, 0)
	}
}

// end sends everything.
func (a *answer) end() error {
	if a.flush(); a.err == nil {
		a.send(len(a.buffer), 1)
	}
	return a.err
}

func (a *answer) send(n int, status byte) {
	head := [8]byte{packetAnswer, status}
	head[6] = a.number
	a.number++
	binary.BigEndian.PutUint16(head[2:], uint16(n+len(head)))
	_, a.err = a.c.rw.Write(append(head[:], a.buffer[:n]...))
	a.buffer = a.buffer[n:]
}

func (a *answer) bytes(v ...byte) { a.buffer = append(a.buffer, v...) }
func (a *answer) u16(v uint16)    { a.buffer = binary.LittleEndian.AppendUint16(a.buffer, v) }
func (a *answer) u32(v uint32)    { a.buffer = binary.LittleEndian.AppendUint32(a.buffer, v) }
func (a *answer) u64(v uint64)    { a.buffer = binary.LittleEndian.AppendUint64(a.buffer, v) }

// sized writes bytes behind their number.
func (a *answer) sized(b []byte) {
	a.u16(uint16(len(b)))
	a.bytes(b...)
}

func toUTF16(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func fromUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// short is a text of at most 255 units behind their number.
func short(s string) []byte {
	u := toUTF16(s)
	return append([]byte{byte(len(u) / 2)}, u...)
}

func (a *answer) done(status, command uint16, rows uint64) {
	a.bytes(0xFD)
	a.u16(status)
	a.u16(command)
	a.u64(rows)
}

func (a *answer) failed(e Error) {
	var body answer
	body.u32(uint32(e.Number))
	body.bytes(1, e.Class)
	message := toUTF16(e.Message)
	body.u16(uint16(len(message) / 2))
	body.bytes(message...)
	body.bytes(short("stand-in")...)
	body.bytes(short("")...)
	body.u32(1)
	a.bytes(0xAA)
	a.sized(body.buffer)
}

// changed tells the client of a change of its session.
func (a *answer) changed(what byte, payload []byte) {
	a.bytes(0xE3)
	a.sized(append([]byte{what}, payload...))
}

// transaction tells of a transaction that began or ended.
func (a *answer) transaction(before, now uint64) {
	const began, rolledBack = 8, 10
	descriptor := func(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{8}, n) }
	switch {
	case before == now:
	case now != 0:
		a.changed(began, append(descriptor(now), 0))
	default:
		a.changed(rolledBack, append([]byte{0}, descriptor(before)...))
	}
}

// result writes the columns and rows of one result set.
func (a *answer) result(r Result, more bool) error {
	a.bytes(0x81)
	a.u16(uint16(len(r.Columns)))
	for _, c := range r.Columns {
		a.u32(0)
		flags := uint16(8)
		if c.Nullable {
			flags |= 1
		}
		a.u16(flags)
		c.Type.describe(a)
		a.bytes(short(c.Name)...)
	}
	for _, values := range r.Rows {
		if len(values) != len(r.Columns) {
			return fmt.Errorf("a row has %d values, want %d", len(values), len(r.Columns))
		}
		a.bytes(0xD1)
		for i, c := range r.Columns {
			if err := c.Type.write(a, values[i]); err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		if a.flush(); a.err != nil {
			return a.err
		}
	}
	status := uint16(doneCount)
	if more {
		status |= doneMore
	}
	const selected = 0xC1
	a.done(status, selected, uint64(len(r.Rows)))
	return nil
}
