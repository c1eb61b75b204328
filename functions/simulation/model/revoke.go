package model

// revokeRule is how a resume keeps an older generation from committing what it
// moves to quarantine (ADR-0007), and what is left out of that.
type revokeRule struct {
	// repair: generation 2 repairs a run that has committed, and the resumes are
	// of the run that follows; else they are of the same run.
	repair bool

	neverRevokes      bool // a resume relies on what the table records
	revokesLast       bool // after it has moved
	movesPromised     bool // what a record of an older generation lists, too
	recordsAfterwards bool // a finalizer creates its record after the sidecar
}

const (
	revokeGenerations = 3
	revokedRecord     = 7 // lists no part
)

// revokeFinalizer publishes generation g: it freezes what the table records,
// reads the fence, creates the record and commits.
type revokeFinalizer struct{ at, lists uint8 }

// revokeResume is the resume of one generation.
type revokeResume struct {
	at       uint8
	revoked  uint8 // the generation that it has looked at last
	recorded uint8
	promised uint8 // a bit for each part
	listed   uint8
}

// revoked is a run of one task: each generation has one part, by its number.
type revoked struct {
	fence    uint8
	recorded uint8 // the part that the table records, 0 for none
	exists   uint8 // a bit for each part
	moved    uint8
	records  [revokeGenerations + 1]uint8 // the part that a record lists
	sidecar  uint8                        // the part that is committed
	losses   uint8                        // of the table

	finalizers [revokeGenerations + 1]revokeFinalizer
	resumes    [revokeGenerations + 1]revokeResume
}

func revoking(r revokeRule) Model[revoked] {
	start := revoked{fence: 1, recorded: 1, exists: 1 << 1}
	if r.repair {
		start = revoked{fence: 2, recorded: 2, exists: 1 << 2, sidecar: 1}
	}
	return Model[revoked]{
		Start: start,
		Steps: func(s revoked, emit Emit[revoked]) {
			if s.losses < 2 && s.recorded != 0 {
				to := s
				to.losses, to.recorded = s.losses+1, 0
				emit(to, "operator", "loses the table, or restores it to before the task was done")
			}
			for g := uint8(1); g <= revokeGenerations; g++ {
				r.finalize(s, g, start.fence, emit)
				if g > start.fence {
					r.resume(s, g, emit)
				}
			}
		},
		Violated: func(_, s revoked) string {
			if s.sidecar != 0 && s.moved&(1<<s.sidecar) != 0 {
				return "V16: a part that is committed is in quarantine"
			}
			return ""
		},
	}
}

// finalize takes the steps of the finalizer of generation g.
func (r revokeRule) finalize(s revoked, g, first uint8, emit Emit[revoked]) {
	f, to := s.finalizers[g], s
	who := [...]string{"", "finalizer 1", "finalizer 2", "finalizer 3"}[g]
	record := func(next uint8) {
		to.finalizers[g].at = next
		if s.records[g] == 0 {
			to.records[g] = f.lists
		} else if s.records[g] == revokedRecord {
			to.finalizers[g].at = 9
		}
		emit(to, who, "creates the record, and ends if it is revoked")
	}
	commit := func(next uint8) {
		to.finalizers[g].at = next
		if s.sidecar == 0 || r.repair && s.sidecar < g {
			to.sidecar = f.lists
		}
		emit(to, who, "creates or replaces the sidecar")
	}
	switch {
	// A run that is resumed is started after the move, and finalized after that.
	case f.at == 0 && s.recorded != 0 && (g == first || !r.repair && s.resumes[g].at >= 6):
		to.finalizers[g] = revokeFinalizer{1, s.recorded}
		emit(to, who, "freezes what the table records")
	case f.at == 1 && s.fence == g:
		to.finalizers[g].at = 2
		emit(to, who, "reads the fence")
	case f.at == 2 && r.recordsAfterwards:
		commit(3)
	case f.at == 2:
		record(3)
	case f.at == 3 && r.recordsAfterwards:
		record(4)
	case f.at == 3:
		commit(4)
	}
}

// resume takes the steps of the planner that resumes at generation g.
func (r revokeRule) resume(s revoked, g uint8, emit Emit[revoked]) {
	p, to := s.resumes[g], s
	who := [...]string{"", "", "resume 2", "resume 3"}[g]
	at := func(next uint8) { to.resumes[g].at = next }
	revoke := func(next uint8) {
		h := max(p.revoked+1, 1)
		switch to.resumes[g].revoked = h; s.records[h] {
		case 0:
			to.records[h] = revokedRecord
		case revokedRecord:
		default:
			to.resumes[g].promised |= 1 << s.records[h]
		}
		if h+1 >= g {
			at(next)
		}
		emit(to, who, "creates the record of an older generation, or reads what it lists")
	}
	switch {
	case p.at == 0 && s.fence == g-1:
		to.fence = g
		if at(1); r.neverRevokes || r.revokesLast {
			at(2)
		}
		emit(to, who, "takes a generation")
	case p.at == 1:
		revoke(2)
	case p.at == 2:
		to.resumes[g].recorded = s.recorded
		at(3)
		emit(to, who, "revokes the leases of older generations and asks the table")
	case p.at == 3:
		to.resumes[g].listed = s.exists
		at(4)
		emit(to, who, "lists the prefix")
	case p.at == 4 && s.fence == g && (r.repair || s.sidecar == 0):
		at(5)
		emit(to, who, "looks at the fence and the sidecar")
	case p.at == 5:
		for h := uint8(1); h < g; h++ {
			spared := p.promised&(1<<h) != 0 && !r.movesPromised
			own := !r.repair && p.recorded == h
			if p.listed&(1<<h) != 0 && !spared && !own && !(r.repair && s.sidecar == h) {
				to.moved |= 1 << h
				to.exists &^= 1 << h
			}
		}
		if at(6); r.revokesLast {
			at(7)
		}
		emit(to, who, "moves what is neither recorded nor promised")
	case p.at == 7:
		revoke(6)
	case p.at == 6 && s.recorded == 0 && !r.repair && (g == revokeGenerations || s.resumes[g+1].at < 3):
		to.recorded = g
		to.exists |= 1 << g
		at(8)
		emit(to, who, "has the task done again")
	}
}
