package model

// partRule is how an attempt stores its part.
type partRule uint8

const (
	createOrSuffix     partRule = iota // create only; taken by other bytes: a name with the content's hash
	replaceCapturedTag                 // one name, If-Match on a version that is derived from the content
	putPart                            // one name, whatever is there
	takenMeansUploaded                 // create only; taken: as if it were mine
)

// The contents of a part; an attempt reads what the source holds at its time.
const (
	noContent uint8 = iota
	contentX
	contentY
)

type partAttempt struct {
	at      uint8
	content uint8 // that it has read
	seen    uint8 // content of the object whose version was taken
	stored  uint8 // 1: under the plain name; else 1 + content, under the name with its hash
}

const (
	attemptIdle uint8 = iota
	attemptRead
	attemptPut
	attemptSecond
	attemptReplace
	attemptRecord
	attemptEnded
)

type partState struct {
	source, flips uint8
	status        uint8 // of the chunk: pending, running, completed
	token         uint8 // 1 + attempt that holds the lease
	attempts      uint8
	recordedName  uint8
	recorded      uint8
	plain         uint8    // content under the plain name
	hashed        [2]uint8 // under the names with a hash
	attempt       [3]partAttempt
}

const (
	chunkPending uint8 = iota
	chunkRunning
	chunkCompleted
	chunkFailed
)

func (s *partState) content(name uint8) uint8 {
	if name == 1 {
		return s.plain
	}
	return s.hashed[name-2]
}

// parts: three attempts on one chunk, each of which may take the lease from
// another that still lives, while the source changes to and fro. V4: a completed
// chunk records what is stored.
func parts(rule partRule) Model[partState] {
	return Model[partState]{
		Start: partState{source: contentX, flips: 2},
		Steps: func(s partState, emit Emit[partState]) {
			if s.flips > 0 {
				to := s
				to.source, to.flips = contentX+contentY-s.source, s.flips-1
				emit(to, "source", "changes")
			}
			for i := range s.attempt {
				rule.step(s, i, emit)
			}
		},
		Violated: func(_, to partState) string {
			if to.status == chunkCompleted && to.content(to.recordedName) != to.recorded {
				return "V4: a completed chunk records other bytes than are stored"
			}
			return ""
		},
	}
}

func (rule partRule) step(s partState, i int, emit Emit[partState]) {
	a := s.attempt[i]
	who := [...]string{"first attempt", "second attempt", "third attempt"}[i]
	step := func(to partState, a partAttempt, what string) {
		to.attempt[i] = a
		emit(to, who, what)
	}
	held := s.status == chunkRunning && s.token == uint8(i+1)
	end := partAttempt{at: attemptEnded}
	if a.at != attemptIdle && a.at != attemptEnded {
		step(s, end, "crashes")
	}
	stored := partAttempt{at: attemptRecord, content: a.content, stored: 1}
	switch a.at {
	case attemptIdle:
		if s.status != chunkCompleted {
			s.status, s.token, s.attempts = chunkRunning, uint8(i+1), s.attempts+1
			step(s, partAttempt{at: attemptRead}, "claims the chunk (T6)")
		}
	case attemptRead:
		step(s, partAttempt{at: attemptPut, content: s.source}, [...]string{"", "reads x", "reads y"}[s.source])
	case attemptPut:
		switch {
		case rule == replaceCapturedTag:
			step(s, partAttempt{at: attemptSecond, content: a.content, seen: s.plain}, "looks at the version")
		case rule == putPart || s.plain == noContent:
			s.plain = a.content
			step(s, stored, "stores the part")
		case rule == takenMeansUploaded || s.plain == a.content:
			step(s, stored, "takes the part that is there for its own")
		default:
			step(s, partAttempt{at: attemptSecond, content: a.content}, "finds other bytes there")
		}
	case attemptSecond:
		switch {
		case rule != replaceCapturedTag:
			s.hashed[a.content-1] = a.content
			stored.stored = 1 + a.content
			step(s, stored, "stores the part under a name with its hash")
		case held:
			a.at = attemptReplace
			step(s, a, "still holds the lease")
		default:
			step(s, end, "has lost the lease")
		}
	case attemptReplace:
		switch {
		case s.plain != a.seen:
			step(s, partAttempt{at: attemptPut, content: a.content}, "loses the swap")
		case a.seen == a.content:
			stored.seen = a.seen
			step(s, stored, "takes the part that is there for its own")
		default:
			s.plain = a.content
			stored.seen = a.seen
			step(s, stored, "replaces the part")
		}
	case attemptRecord:
		if !held {
			step(s, end, "is fenced off by its token (T8)")
			return
		}
		s.status, s.recordedName, s.recorded = chunkCompleted, a.stored, a.content
		step(s, end, "completes the chunk (T8)")
	}
}
