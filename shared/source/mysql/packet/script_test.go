package packet

import (
	"bytes"
	"encoding/binary"
	"io"
)

// answer is what a server sends after a command: packets, numbered from 1, in
// pieces where they are long.
func answer(packets ...[]byte) []byte { return numbered(1, packets...) }

func numbered(next byte, packets ...[]byte) (stream []byte) {
	for _, p := range packets {
		for {
			n := min(len(p), fullPiece)
			stream = append(stream, byte(n), byte(n>>8), byte(n>>16), next)
			stream = append(stream, p[:n]...)
			next++
			if p = p[n:]; n < fullPiece {
				break
			}
		}
	}
	return stream
}

// scripted is a link to a server that sends a stream, whatever it is asked.
func scripted(stream []byte, agreed capabilities) *Link {
	return &Link{over: struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(stream), io.Discard}, agreed: agreed, stage: signedIn}
}

func text(s string) []byte {
	switch n := len(s); {
	case n < 0xfb:
		return append([]byte{byte(n)}, s...)
	case n < 1<<16:
		return append(binary.LittleEndian.AppendUint16([]byte{0xfc}, uint16(n)), s...)
	case n < 1<<24:
		return append([]byte{0xfd, byte(n), byte(n >> 8), byte(n >> 16)}, s...)
	default:
		return append(binary.LittleEndian.AppendUint64([]byte{0xfe}, uint64(n)), s...)
	}
}

// definition is that of a column of a type.
func definition(kind byte, flags uint16) []byte {
	p := bytes.Join([][]byte{text("def"), text("shop"), text("o"), text("orders"), text("n"), text("name")}, nil)
	p = append(p, 12, 45, 0, 255, 0, 0, 0, kind)
	p = binary.LittleEndian.AppendUint16(p, flags)
	return append(p, 0, 0, 0)
}

// row is one of columns that are not NULL.
func row(columns int, values ...[]byte) []byte {
	return append(make([]byte, 1+(columns+2+7)/8), bytes.Join(values, nil)...)
}

func prepared(columns byte) []byte { return []byte{0, 7, 0, 0, 0, columns, 0, 0, 0, 0, 0, 0} }

var (
	endOfFile  = []byte{answerEnd, 0, 0, 2, 0}       // no warnings, status
	endOK      = []byte{answerEnd, 0, 0, 2, 0, 0, 0} // nothing changed, no id, status, no warnings
	killed     = append([]byte{answerError, 0x87, 0x07}, "#70100Connection was killed"...)
	intColumn  = definition(3, 0)
	textColumn = definition(253, 0)
)

// session is what a server sends for a statement whose columns are an int and a
// text.
func session(agreed capabilities, rows ...[]byte) []byte {
	end := endOfFile
	packets := [][]byte{prepared(2), intColumn, textColumn}
	if !agreed.deprecateEOF {
		packets = append(packets, endOfFile)
	}
	stream := answer(packets...)
	if packets = [][]byte{{2}, intColumn, textColumn}; agreed.cacheMetadata {
		packets = [][]byte{{2, 0}}
	}
	if agreed.deprecateEOF {
		end = endOK
	} else {
		packets = append(packets, endOfFile)
	}
	packets = append(packets, rows...)
	return append(stream, answer(append(packets, end)...)...)
}
