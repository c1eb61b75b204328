package parquet

// sink collects a file in pieces, so that growing never copies what is there.
type sink struct {
	pieces [][]byte
	size   int64
}

const pieceBytes = 1 << 20

func (s *sink) Write(p []byte) (int, error) {
	n := len(p)
	s.size += int64(n)
	for len(p) > 0 {
		last := len(s.pieces) - 1
		if last < 0 || len(s.pieces[last]) == cap(s.pieces[last]) {
			s.pieces = append(s.pieces, make([]byte, 0, pieceBytes))
			last++
		}
		piece := s.pieces[last]
		k := copy(piece[len(piece):cap(piece)], p)
		s.pieces[last], p = piece[:len(piece)+k], p[k:]
	}
	return n, nil
}

// join returns everything as one body and empties the sink, letting go of each
// piece as soon as it is copied.
func (s *sink) join() []byte {
	body := make([]byte, 0, s.size)
	for i, piece := range s.pieces {
		body = append(body, piece...)
		s.pieces[i] = nil
	}
	*s = sink{}
	return body
}
