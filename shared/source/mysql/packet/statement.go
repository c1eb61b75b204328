package packet

import (
	"encoding/binary"
	"fmt"
)

const (
	commandPrepare = 0x16
	commandExecute = 0x17
	commandClose   = 0x19
)

// Statement is a SELECT that runs on a link, alone: until [Statement.Next] has
// said that the last row was read, the library must not use the link. After an
// error the link is of no use to anybody.
type Statement struct {
	Columns []Column

	link  *Link
	id    uint32
	row   []byte
	spans []span
	ended bool
}

// Run sends a statement that begins to deliver its rows, of which none may have
// more than limit bytes; 0 is no limit. The library is idle.
func Run(l *Link, statement string, limit int64) (*Statement, error) {
	if l.rows.buf == nil {
		l.rows = reader{from: l.over, buf: make([]byte, bufferSize)}
	}
	l.rows.start, l.rows.end, l.rows.limit = 0, 0, limit
	s := &Statement{link: l}
	if err := s.prepare(statement); err != nil {
		return nil, err
	}
	if err := s.execute(); err != nil {
		return nil, err
	}
	s.spans = make([]span, len(s.Columns))
	return s, nil
}

// send writes a command in one piece and expects its answer from the beginning.
func (s *Statement) send(command byte, body []byte) error {
	size := 1 + len(body)
	if size >= fullPiece {
		return fmt.Errorf("the statement has %d bytes, more than a server takes at once", len(body))
	}
	p := make([]byte, 0, headerSize+size)
	p = append(p, byte(size), byte(size>>8), byte(size>>16), 0, command)
	s.link.rows.next = 1
	_, err := s.link.over.Write(append(p, body...))
	return err
}

// answer takes the next packet, which is never empty, or the error in its place.
func (s *Statement) answer() ([]byte, error) {
	p, err := s.link.rows.packet()
	switch {
	case err != nil:
		return nil, err
	case len(p) == 0:
		return nil, brokenf("a packet is empty")
	case p[0] == answerError:
		return nil, serverError(p)
	}
	return p, nil
}

func (s *Statement) prepare(statement string) error {
	if err := s.send(commandPrepare, []byte(statement)); err != nil {
		return err
	}
	p, err := s.answer()
	if err != nil {
		return err
	}
	if len(p) < 9 || p[0] != answerOK {
		return brokenf("a statement that is prepared has no number")
	}
	s.id = binary.LittleEndian.Uint32(p[1:])
	columns, parameters := int(binary.LittleEndian.Uint16(p[5:])), int(binary.LittleEndian.Uint16(p[7:]))
	if parameters > 0 {
		return brokenf("the statement has %d places for parameters", parameters)
	}
	return s.define(columns)
}

// define reads the definitions of columns.
func (s *Statement) define(count int) error {
	s.Columns = make([]Column, 0, min(count, 1<<12))
	for range count {
		p, err := s.answer()
		if err != nil {
			return err
		}
		c, err := columnOf(p)
		if err != nil {
			return err
		}
		s.Columns = append(s.Columns, c)
	}
	if count == 0 {
		return nil
	}
	return s.endOfColumns()
}

func (s *Statement) endOfColumns() error {
	if s.link.agreed.deprecateEOF {
		return nil
	}
	p, err := s.answer()
	if err == nil && (p[0] != answerEnd || len(p) > 5) {
		err = brokenf("the definitions of columns have no end")
	}
	return err
}

func (s *Statement) execute() error {
	body := binary.LittleEndian.AppendUint32(nil, s.id)
	body = append(body, 0)                           // no cursor
	body = binary.LittleEndian.AppendUint32(body, 1) // once
	if err := s.send(commandExecute, body); err != nil {
		return err
	}
	p, err := s.answer()
	if err != nil {
		return err
	}
	count, size := lengthOf(p)
	if p[0] == answerOK || p[0] == answerFile || size == 0 || count > 1<<16 {
		return brokenf("the statement has no rows to deliver")
	}
	if s.link.agreed.cacheMetadata && len(p) == size+1 && p[size] == 0 {
		if int(count) != len(s.Columns) {
			return brokenf("the statement has %d columns and was prepared with %d", count, len(s.Columns))
		}
		return s.endOfColumns()
	}
	return s.define(int(count))
}

// Next goes to the next row; false is after the last one.
func (s *Statement) Next() (bool, error) {
	if s.ended {
		return false, nil
	}
	p, err := s.answer()
	if err != nil {
		return false, err
	}
	switch p[0] {
	case answerOK:
		s.row = p[1:]
		return true, frame(s.row, s.Columns, s.spans)
	case answerEnd:
		s.ended = true
		return false, s.confirm(p)
	}
	return false, brokenf("a row begins with byte %d", p[0])
}

// confirm looks whether the end of the rows is that of the answer.
func (s *Statement) confirm(p []byte) error {
	const moreFollow = 1 << 3
	status := 3 // behind the warnings
	if s.link.agreed.deprecateEOF {
		status = 1
		for range 2 { // rows changed, and the last id
			_, size := lengthOf(p[min(status, len(p)):])
			if size == 0 {
				return brokenf("the end of the rows is cut off")
			}
			status += size
		}
	}
	if len(p) < status+2 {
		return brokenf("the end of the rows is cut off")
	}
	if binary.LittleEndian.Uint16(p[status:])&moreFollow != 0 || s.link.rows.start != s.link.rows.end {
		return brokenf("something follows the end of the rows")
	}
	return nil
}

// Value is the value of column i of the row, valid until the next call of Next.
// ok is false for NULL.
func (s *Statement) Value(i int) (value []byte, ok bool) {
	at := s.spans[i]
	if at.start < 0 {
		return nil, false
	}
	return s.row[at.start:at.end:at.end], true
}

// Close lets the server forget a statement whose last row was read.
func (s *Statement) Close() error {
	if !s.ended {
		return brokenf("a statement is closed before its end")
	}
	return s.send(commandClose, binary.LittleEndian.AppendUint32(nil, s.id)) // has no answer
}
