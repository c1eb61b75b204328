package native

// arena keeps the encoded pages of a row group in blocks that never move, and
// are used again for the next row group.
type arena struct {
	blocks [][]byte
	open   int // block that pages go into; all before it are full
	size   int64
}

const arenaBlock = 1 << 20

// keep stores the two pieces one after the other and returns them as one: a
// view until reset.
func (a *arena) keep(head, tail []byte) []byte {
	n := len(head) + len(tail)
	for a.open < len(a.blocks) && cap(a.blocks[a.open])-len(a.blocks[a.open]) < n {
		a.open++
	}
	if a.open == len(a.blocks) {
		a.blocks = append(a.blocks, make([]byte, 0, max(n, arenaBlock)))
	}
	block := &a.blocks[a.open]
	start := len(*block)
	*block = append(append(*block, head...), tail...)
	a.size += int64(n)
	return (*block)[start:]
}

func (a *arena) reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.open, a.size = 0, 0
}
