package model

// faninRule is how the last chunk is found, and the ways to find it wrongly.
type faninRule struct {
	expectsChild     bool // a split adds the child to the expected count, in its transaction
	queries          bool // the finalizer asks the table whether every chunk is completed (I6)
	splitInTwoWrites bool
	counts           bool // a counter instead of a set of chunk ids
	parentOnlyAcks   bool // a duplicate of a split parent does not send the child again
}

const (
	chunkA = iota
	chunkB
	childOfA
	childOfB
	faninChunks
)

type faninChunk struct {
	status uint8 // 0: absent
	token  uint8 // 1 + worker
}

type faninWorker struct{ at, chunk uint8 }

const (
	faninIdle uint8 = iota
	faninReceived
	faninClaimed
	faninSend
	faninAdd
	faninFull
	faninAck
	faninPutChild
)

type faninState struct {
	chunks   [faninChunks]faninChunk
	expected uint8
	done     uint8 // chunks, a bit each
	count    uint8 // adds, for the variant that counts
	signaled bool
	messages uint8
	workers  [2]faninWorker
	crashed  bool
	work     uint8 // every chunk that has rows to deliver
}

// fanin: two chunks, each may split once; messages are delivered again until
// they are acknowledged, and one worker crashes.
func fanin(rule faninRule) Model[faninState] {
	start := faninState{expected: 2, messages: 1<<chunkA | 1<<chunkB, work: 1<<chunkA | 1<<chunkB}
	start.chunks[chunkA].status, start.chunks[chunkB].status = taskPending, taskPending
	return Model[faninState]{
		Start: start,
		Steps: func(s faninState, emit Emit[faninState]) {
			for i := range s.workers {
				rule.step(s, i, emit)
			}
		},
		Violated: func(_, to faninState) string {
			for i, c := range to.chunks {
				if to.signaled && to.work>>i&1 == 1 && c.status != taskCompleted {
					return "V6: finalized while a chunk is not completed"
				}
			}
			return ""
		},
		Ended: func(s faninState) string {
			if !s.signaled {
				return "V17: the queue is empty, and the finalizer was never called"
			}
			return ""
		},
	}
}

func (rule faninRule) step(s faninState, i int, emit Emit[faninState]) {
	w := s.workers[i]
	who := [...]string{"a worker", "another worker"}[i]
	step := func(to faninState, at uint8, what string) {
		to.workers[i].at = at
		if at == faninIdle {
			to.workers[i].chunk = 0
		}
		emit(to, who, what)
	}
	if w.at == faninIdle {
		for c := range uint8(faninChunks) {
			if s.messages>>c&1 == 1 {
				to := s
				to.workers[i].chunk = c
				step(to, faninReceived, [...]string{"receives chunk a", "receives chunk b", "receives a's child", "receives b's child"}[c])
			}
		}
		return
	}
	if !s.crashed {
		to := s
		to.crashed = true
		step(to, faninIdle, "crashes")
	}
	chunk, child := &s.chunks[w.chunk], w.chunk+childOfA
	isBase := w.chunk < childOfA
	switch w.at {
	case faninReceived:
		switch chunk.status {
		case taskCompleted:
			step(s, faninAdd, "finds the chunk completed: drives the fan-in again")
		case taskAbsent:
			step(s, faninIdle, "does not know the chunk: hands it back")
		default:
			*chunk = faninChunk{taskRunning, uint8(i + 1)}
			step(s, faninClaimed, "claims the chunk (T6)")
		}
	case faninClaimed:
		if *chunk != (faninChunk{taskRunning, uint8(i + 1)}) {
			step(s, faninIdle, "is fenced off by its token")
			return
		}
		chunk.status = taskCompleted
		step(s, faninAdd, "completes the chunk (T8)")
		if !isBase {
			return
		}
		s.work |= 1 << child
		if rule.splitInTwoWrites {
			step(s, faninPutChild, "completes the chunk, its child comes later")
			return
		}
		s.chunks[child] = faninChunk{status: taskPending}
		if rule.expectsChild {
			s.expected++
		}
		step(s, faninSend, "splits the chunk (T9)")
	case faninPutChild:
		s.chunks[child] = faninChunk{status: taskPending}
		s.expected++
		step(s, faninSend, "puts the child")
	case faninSend:
		s.messages |= 1 << child
		step(s, faninAdd, "sends the child")
	case faninAdd:
		if isBase && !rule.parentOnlyAcks && s.chunks[child].status == taskPending {
			s.messages |= 1 << child
		}
		s.done |= 1 << w.chunk
		if rule.counts {
			s.count++
		}
		if (rule.counts && s.count >= s.expected) || !rule.counts && ones(s.done) >= s.expected {
			step(s, faninFull, "adds the chunk to the leaf: full (T11)")
		} else {
			step(s, faninAck, "adds the chunk to the leaf (T11)")
		}
	case faninFull:
		all := true
		for _, c := range s.chunks {
			all = all && (c.status == taskAbsent || c.status == taskCompleted)
		}
		if all || !rule.queries {
			s.signaled = true
			step(s, faninAck, "calls the finalizer")
		} else {
			step(s, faninAck, "finds a chunk that is not completed (I6)")
		}
	case faninAck:
		s.messages &^= 1 << w.chunk
		step(s, faninIdle, "acknowledges the message")
	}
}

func ones(bits uint8) (n uint8) {
	for ; bits != 0; bits &= bits - 1 {
		n++
	}
	return n
}
