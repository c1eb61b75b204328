package schedule

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// standing returns the fence document that stands, and its version; nil if none
// does.
func (s *simulation) standing() ([]byte, destination.Version) {
	body, v, err := s.bucket.Get(s.ctx, contract.CursorKey("orders"), contract.MaxCursorBytes)
	if err != nil {
		return nil, destination.Absent
	}
	return body, v
}

// putBack puts a fence document that has stood in the place of the one that
// stands: the n-th that was written, or, with n 0, the newest.
func (s *simulation) putBack(n int) bool {
	var body []byte
	switch stands, _ := s.standing(); {
	case stands == nil || n > len(s.documents):
		return false
	case n == 0:
		body = s.newestDocument()
	case s.tellable(s.documents[n-1]):
		body = s.documents[n-1]
	}
	stands, v := s.standing()
	if body == nil || bytes.Equal(body, stands) {
		return false
	}
	if _, err := s.bucket.Replace(s.ctx, contract.CursorKey("orders"), v, body, destination.Meta{}); err != nil {
		panic(err)
	}
	s.faults++
	s.copies++
	s.check.cursorPutBack(body)
	return true
}

// tellable reports whether a document can be told from the newest. Of a
// generation that was taken once more, over a lost document, it cannot.
func (s *simulation) tellable(body []byte) bool {
	return s.cursorLosses == 0 || documentOf(body).Generation < documentOf(s.newestDocument()).Generation
}

// newestDocument is what an operator looks for: a document of the highest
// generation, by the run that its trace names, that has come furthest.
func (s *simulation) newestDocument() (newest []byte) {
	var best contract.CursorDocument
	for _, body := range s.documents {
		doc := documentOf(body)
		owner := s.traced(doc.Generation)
		switch {
		case doc.Generation > best.Generation,
			doc.Generation == best.Generation && doc.OwnerRunID == best.OwnerRunID && slices.Index(furthest, doc.State) >= slices.Index(furthest, best.State),
			doc.Generation == best.Generation && doc.OwnerRunID != best.OwnerRunID && (owner == "" || owner == doc.OwnerRunID):
			best, newest = doc, body
		}
	}
	return newest
}

// furthest are the states of one generation in their order. A document that says
// opening may be written late, when its run has long opened it.
var furthest = []contract.FenceState{contract.FenceOpening, contract.FenceOpen, contract.FenceReleased, contract.FenceCommitted}

// traced returns the run whose trace a generation has, "" for none.
func (s *simulation) traced(g contract.Generation) contract.RunID {
	var trace struct {
		Run contract.RunID `json:"run_id"`
	}
	body, _, err := s.bucket.Get(s.ctx, contract.GenerationKey("orders", g), contract.MaxCursorBytes)
	if err == nil {
		err = json.Unmarshal(body, &trace)
	}
	if err != nil {
		return ""
	}
	return trace.Run
}

func documentOf(body []byte) contract.CursorDocument {
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		panic(err)
	}
	return doc
}

// stale reports whether a document of an older generation stands.
func (s *simulation) stale() bool {
	stands, _ := s.standing()
	return s.copies > 0 && stands != nil && documentOf(stands).Generation < documentOf(s.newestDocument()).Generation
}

// olderCopy chooses a document that has stood, and who is to find it.
func (d *disorder) olderCopy(s *simulation) (decision, bool) {
	if len(s.documents) < 2 {
		return decision{}, false
	}
	d.copies--
	next := decision{act: supersede, n: min(s.newest+1, lastRun-1)}
	switch d.rng.IntN(4) {
	case 0:
		next = decision{act: resume, n: 1 + d.rng.IntN(max(1, s.newest))}
	case 1:
		next = decision{act: repairRun, n: 1 + d.rng.IntN(max(1, s.newest))}
	}
	d.opening = []decision{next}
	return decision{act: oldCursor, n: 1 + d.rng.IntN(len(s.documents)-1)}, true
}

// cure is what an operator does about an older copy that stands.
func (d *disorder) cure(s *simulation) (decision, bool) {
	if s.newest >= lastRun-1 || d.rng.IntN(2) == 0 {
		return decision{act: newestCursor}, true
	}
	return d.start(s, decision{act: reanchor, n: s.newest + 1}), true
}
