package postgres

import (
	"bufio"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	// readBytes is how much is asked of the connection at once.
	readBytes = 128 << 10
	// fewBytes are not worth a wake-up while rows stream.
	fewBytes = 64 << 10
	// pause is how long the server may go on writing into the socket's buffers
	// before it is read from again: little beside any statement, and 160 KB of
	// rows at the pace of one server process.
	pause = time.Millisecond
)

// paced reads from a server that streams. A server writes 8 KiB at a time, and
// is the slower of the two: whoever reads each of these as it comes spends more
// time on waking up than on the rows. So while rows stream, a read that brought
// little is followed by a pause, in which the socket's buffers take more.
type paced struct {
	conn    io.Reader
	stream  bool // rows are what comes
	waiting bool // the last read brought little
}

// frontend is how the client library reads.
func (p *paced) frontend(conn io.Reader, w io.Writer) *pgproto3.Frontend {
	p.conn = conn
	return pgproto3.NewFrontend(bufio.NewReaderSize(p, readBytes), w)
}

func (p *paced) Read(b []byte) (int, error) {
	if p.stream && p.waiting {
		time.Sleep(pause)
	}
	n, err := p.conn.Read(b)
	p.waiting = n < fewBytes
	return n, err
}
