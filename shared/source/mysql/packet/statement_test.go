package packet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// drain reads a statement to its end and prints its rows.
func drain(l *Link, limit int64) (rows []string, err error) {
	s, err := Run(l, "select n, name from orders", limit)
	if err != nil {
		return nil, err
	}
	for {
		more, err := s.Next()
		if err != nil || !more {
			return rows, err
		}
		var cells []string
		for i := range s.Columns {
			value, ok := s.Value(i)
			switch {
			case !ok:
				cells = append(cells, "∅")
			case s.Columns[i].Whole():
				cells = append(cells, fmt.Sprint(s.Columns[i].Integer(value)))
			default:
				cells = append(cells, string(value))
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
}

var agreements = []capabilities{
	{}, {deprecateEOF: true}, {deprecateEOF: true, cacheMetadata: true}, {cacheMetadata: true},
}

func someRows() [][]byte {
	withNull := row(2, []byte{9, 0, 0, 0})
	withNull[1] |= 1 << 3 // column 1, behind the two bits that none has
	return [][]byte{row(2, []byte{254, 255, 255, 255}, text("ab")), withNull, row(2, []byte{1, 0, 0, 0}, text(""))}
}

const someText = "-2|ab 9|∅ 1|"

func TestRowsWhateverWasAgreedOn(t *testing.T) {
	for _, agreed := range agreements {
		rows, err := drain(scripted(session(agreed, someRows()...), agreed), 0)
		if got := strings.Join(rows, " "); err != nil || got != someText {
			t.Errorf("%+v: %q, %v", agreed, got, err)
		}
	}
}

// Every kind of the protocol is read from its column's definition, with its sign.
func TestAColumnIsWhatItsDefinitionSays(t *testing.T) {
	for number, kind := range kinds {
		for flags, unsigned := range map[uint16]bool{0: false, 0xFFFF &^ flagUnsigned: false, flagUnsigned: true, flagUnsigned | 1: true} {
			p := definition(number, flags)
			p[len(p)-3] = 6
			if c, err := columnOf(p); err != nil || c != (Column{Kind: kind, Unsigned: unsigned, Decimals: 6}) {
				t.Errorf("type %d with flags %#x is %+v, %v", number, flags, c, err)
			}
		}
	}
}

// Columns that changed since the statement was prepared are sent again.
func TestColumnsThatAreSentAgainCount(t *testing.T) {
	agreed := capabilities{deprecateEOF: true, cacheMetadata: true}
	stream := append(answer(prepared(1), textColumn), answer([]byte{1, 1}, intColumn, row(1, []byte{5, 0, 0, 0}), endOK)...)
	rows, err := drain(scripted(stream, agreed), 0)
	if err != nil || strings.Join(rows, " ") != "5" {
		t.Fatalf("%q, %v", rows, err)
	}
}

// A connection that ends anywhere is not the end of the rows (OPS-01).
func TestEveryCutIsAnError(t *testing.T) {
	for _, agreed := range agreements {
		whole := session(agreed, someRows()...)
		for n := range whole {
			if _, err := drain(scripted(whole[:n], agreed), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%+v: cut after %d of %d bytes: %v", agreed, n, len(whole), err)
			}
		}
	}
}

func TestEveryGapInTheNumbersIsAnError(t *testing.T) {
	agreed := capabilities{deprecateEOF: true}
	whole := session(agreed, someRows()...)
	gaps := 0
	for at := 0; at < len(whole); gaps++ {
		hurt := bytes.Clone(whole)
		hurt[at+3]++
		var broken BrokenError
		if _, err := drain(scripted(hurt, agreed), 0); !errors.As(err, &broken) {
			t.Fatalf("a gap at byte %d: %v", at, err)
		}
		at += headerSize + int(whole[at]) // all are short
	}
	if gaps < 9 {
		t.Fatalf("only %d packets were seen", gaps)
	}
}

// Rows around the size of a piece, and of several, which is also the size at
// which one more piece without bytes follows.
func TestLongRows(t *testing.T) {
	agreed := capabilities{deprecateEOF: true}
	for _, size := range []int{bufferSize, bufferSize + 1, fullPiece - 1, fullPiece, fullPiece + 1, 2 * fullPiece, 2*fullPiece + 3} {
		head := row(2, []byte{1, 0, 0, 0}, []byte{0xfe})
		value := strings.Repeat("x", size-len(head)-8-1) + "y"
		long := append(binary.LittleEndian.AppendUint64(head, uint64(len(value))), value...)
		stream := session(agreed, long, row(2, []byte{2, 0, 0, 0}, text("z")))
		rows, err := drain(scripted(stream, agreed), int64(size))
		if err != nil || len(rows) != 2 || rows[0] != "1|"+value || rows[1] != "2|z" {
			t.Fatalf("%d bytes: %d rows, %v", size, len(rows), err)
		}
		var overlong *TooLongError
		if _, err := drain(scripted(stream, agreed), int64(size)-1); size > bufferSize && !errors.As(err, &overlong) {
			t.Fatalf("%d bytes and a limit of one less: %v", size, err)
		}
		if at := bytes.Index(stream, head) + fullPiece + 3; size >= fullPiece { // the number of the second piece
			hurt := bytes.Clone(stream)
			hurt[at]++
			var broken BrokenError
			if _, err := drain(scripted(hurt, agreed), 0); !errors.As(err, &broken) {
				t.Fatalf("%d bytes and a gap in their pieces: %v", size, err)
			}
		}
		if _, err := drain(scripted(stream[:len(stream)/2], agreed), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("half of %d bytes: %v", size, err)
		}
	}
}

func TestWhatServersMayNotSend(t *testing.T) {
	agreed := capabilities{deprecateEOF: true}
	start := answer(prepared(2), intColumn, textColumn)
	rowsFrom := func(packets ...[]byte) []byte {
		return append(bytes.Clone(start), answer(append([][]byte{{2}, intColumn, textColumn}, packets...)...)...)
	}
	five := []byte{5, 0, 0, 0}
	for _, tc := range []struct {
		name   string
		stream []byte
		want   string
	}{
		{"killed before it is prepared", answer(killed), "error 1927: Connection was killed"},
		{"killed before it runs", append(bytes.Clone(start), answer(killed)...), "error 1927"},
		{"killed among its rows", rowsFrom(row(2, five, text("a")), killed), "error 1927"},
		{"killed, in a packet out of turn", append(rowsFrom(row(2, five, text("a"))), numbered(0, killed)...), "error 1927"},
		{"an error without a state", answer([]byte("\xff\x15\x04no")), "error 1045: no"},
		{"an error that is cut off", answer([]byte("\xff\x15")), "an error of the server has 2 bytes"},
		{"an empty packet", answer(nil), "a packet is empty"},
		{"a statement without a number", answer([]byte{0, 1}), "has no number"},
		{"places for parameters", answer([]byte{0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0}), "2 places for parameters"},
		{"a statement without rows", append(bytes.Clone(start), answer([]byte{0, 0, 0, 2, 0, 0, 0})...), "no rows to deliver"},
		{"a request for a file", append(bytes.Clone(start), answer(append([]byte{0xfb}, "/etc/passwd"...))...), "no rows to deliver"},
		{"a number of columns that is cut off", append(bytes.Clone(start), answer([]byte{0xfc, 1})...), "no rows to deliver"},
		{"a type that is not known", answer(prepared(1), definition(99, 0)), "type 99"},
		{"a definition that is cut off", answer(prepared(1), intColumn[:len(intColumn)-5]), "definition of a column is cut off"},
		{"a definition that leads out of its packet", answer(prepared(1), append([]byte{0xfe, 255, 255, 255, 255, 255, 255, 255, 255}, intColumn...)), "definition of a column is cut off"},
		{"a definition that leads a little out of it", answer(prepared(1), append([]byte{0xfd, 255, 255, 0}, intColumn...)), "definition of a column is cut off"},
		{"a row of another kind", rowsFrom([]byte{1, 2, 3}), "begins with byte 1"},
		{"a row without its NULLs", rowsFrom([]byte{0}), "a row of 2 columns has 0 bytes"},
		{"a row that ends in a number", rowsFrom(row(2, five[:2])), "ends in the value of column 1"},
		{"a row without its last value", rowsFrom(row(2, five)), "leads out of its row"},
		{"a text longer than its row", rowsFrom(row(2, five, []byte{3, 'a'})), "ends in the value of column 2"},
		{"a text of 16 exabytes", rowsFrom(row(2, five, []byte{0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 'a'})), "leads out of its row"},
		{"a text whose length is cut off", rowsFrom(row(2, five, []byte{0xfd, 1})), "leads out of its row"},
		{"a NULL of the text protocol", rowsFrom(row(2, five, []byte{0xfb})), "leads out of its row"},
		{"a length that is none", rowsFrom(row(2, five, []byte{0xff, 0, 0, 0})), "leads out of its row"},
		{"a byte too many", rowsFrom(row(2, five, text("a"), []byte{0})), "1 bytes follow"},
		{"an end that is cut off", rowsFrom([]byte{answerEnd, 0, 0, 2}), "the end of the rows is cut off"},
		{"an end without anything", rowsFrom([]byte{answerEnd}), "the end of the rows is cut off"},
		{"a second result", rowsFrom([]byte{answerEnd, 0, 0, 8, 0, 0, 0}), "follows the end"},
		{"a packet behind the end", rowsFrom(endOK, endOK), "follows the end"},
		{"columns without their end", nil, "have no end"},
		{"other columns than it was prepared with", nil, "has 3 columns and was prepared with 2"},
		{"a value where there can be none", nil, "NULL by its type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			agreed := agreed
			switch tc.want {
			case "have no end":
				agreed.deprecateEOF, tc.stream = false, answer(prepared(2), intColumn, textColumn, row(2, five, text("a")))
			case "has 3 columns and was prepared with 2":
				agreed.cacheMetadata, tc.stream = true, append(bytes.Clone(start), answer([]byte{3, 0})...)
			case "NULL by its type":
				tc.stream = append(answer(prepared(1), definition(6, 0)), answer([]byte{1}, definition(6, 0), row(1))...)
			}
			rows, err := drain(scripted(tc.stream, agreed), 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%q, %v; want %s", rows, err, tc.want)
			}
			var refused *ServerError
			var broken BrokenError
			if !errors.As(err, &refused) && !errors.As(err, &broken) {
				t.Fatalf("%T", err)
			}
		})
	}
}

// A statement is forgotten only after its last row.
func TestCloseComesAfterTheEnd(t *testing.T) {
	agreed := agreements[1]
	s, err := Run(scripted(session(agreed, someRows()...), agreed), "select", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil {
		t.Fatal("closed before its end")
	}
	for more := true; more; {
		if more, err = s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if more, err := s.Next(); more || err != nil {
		t.Fatalf("after the end: %v, %v", more, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Nothing is allocated for a row.
func TestRowsAllocateNothing(t *testing.T) {
	agreed := agreements[1]
	var rows [][]byte
	for range 500 {
		rows = append(rows, someRows()...)
	}
	stream := session(agreed, rows...)
	s, err := Run(scripted(stream, agreed), "select", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Value(1)
	}); n > 0 {
		t.Errorf("%v allocations a row", n)
	}
}

// Whatever bytes come: rows and an end, or an error; never a panic, and no more
// memory than there are bytes.
func FuzzStatement(f *testing.F) {
	for _, agreed := range agreements {
		f.Add(session(agreed, someRows()...), agreed.deprecateEOF, agreed.cacheMetadata)
	}
	f.Add(answer(killed), true, false)
	every := answer(prepared(9), intColumn, textColumn, definition(1, 32), definition(2, 0), definition(8, 32), definition(10, 0), definition(12, 0), definition(11, 0), definition(5, 0))
	f.Add(append(every, answer([]byte{9}, intColumn, textColumn, definition(1, 32), definition(2, 0), definition(8, 32), definition(10, 0), definition(12, 0), definition(11, 0), definition(5, 0),
		row(9, []byte{1, 0, 0, 0}, text("é"), []byte{255}, []byte{1, 2}, bytes.Repeat([]byte{255}, 8), []byte{4, 232, 7, 2, 29}, []byte{7, 232, 7, 2, 29, 23, 59, 59}, []byte{0}, make([]byte, 8)), endOK)...), true, false)
	f.Fuzz(func(t *testing.T, stream []byte, deprecateEOF, cacheMetadata bool) {
		s, err := Run(scripted(stream, capabilities{deprecateEOF: deprecateEOF, cacheMetadata: cacheMetadata}), "select", 1<<20)
		if err != nil {
			return
		}
		for {
			more, err := s.Next()
			if !more || err != nil {
				return
			}
			for i, c := range s.Columns {
				value, ok := s.Value(i)
				if !ok {
					continue
				}
				if len(value) > len(stream) {
					t.Fatalf("a value of %d bytes in %d", len(value), len(stream))
				}
				if printed, err := c.AppendText(nil, value); err != nil && !errors.Is(err, ErrValue) || len(printed) > len(stream)+64 {
					t.Fatalf("%v is printed as %.100q, %v", value, printed, err)
				}
			}
		}
	})
}
