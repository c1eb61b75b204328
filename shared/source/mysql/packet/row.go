package packet

// span is where a value lies in a row; its start is -1 for NULL.
type span struct{ start, end int }

// frame finds the values of the row p, without its first byte. It takes exactly
// what is there: a row with a byte too many or too few is broken.
func frame(p []byte, columns []Column, spans []span) error {
	const offset = 2 // bits of the NULL bitmap that no column has
	at := (len(columns) + offset + 7) / 8
	if len(p) < at {
		return brokenf("a row of %d columns has %d bytes", len(columns), len(p))
	}
	for i := range columns {
		bit := i + offset
		if p[bit>>3]>>(bit&7)&1 != 0 {
			spans[i] = span{-1, -1}
			continue
		}
		size := 0
		switch columns[i].Kind {
		case Int32, Float32:
			size = 4
		case Int64, Float64:
			size = 8
		case Int8:
			size = 1
		case Int16:
			size = 2
		case Date, DateTime, Span:
			if at < len(p) {
				size = int(p[at])
			}
			at++
		case Bytes:
			if at < len(p) && p[at] < 0xfb { // most are short
				size = int(p[at])
				at++
				break
			}
			start, end, ok := stringAt(p, min(at, len(p)))
			if !ok {
				return brokenf("the length of a value in column %d leads out of its row", i+1)
			}
			at, size = start, end-start
		default:
			return brokenf("column %d has a value and is NULL by its type", i+1)
		}
		if size > len(p)-at {
			return brokenf("a row ends in the value of column %d", i+1)
		}
		spans[i] = span{at, at + size}
		at += size
	}
	if at != len(p) {
		return brokenf("%d bytes follow the last value of a row", len(p)-at)
	}
	return nil
}
