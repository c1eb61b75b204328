package schedule

import (
	"path"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// unchanged is V5 for what is written once: plans, records and sidecars, a
// tombstone too.
func (c *checker) unchanged(key string, o object) {
	if was, known := c.objects[key]; known && was.fingerprint != o.fingerprint {
		c.fail("V5", "%s had %s and has %s", key, was.fingerprint, o.fingerprint)
	}
	c.objects[key] = o
}

// part is V5 for a part, which is also V4 for one that is recorded.
func (c *checker) part(p *process, key string, o object) {
	head, err := c.s.bucket.Head(c.s.ctx, key)
	if err != nil {
		panic(err)
	}
	o.part, o.user = true, head.User
	if n, err := strconv.ParseInt(head.User[commit.MetaGeneration], 10, 64); err == nil {
		o.gen = contract.Generation(n)
	}
	if o.rows, err = rowsOf(key, o.body); err != nil {
		c.fail("V10", "%s cannot be read: %v", key, err)
	}
	if was, known := c.objects[key]; known && was.fingerprint != o.fingerprint {
		switch {
		case c.counts(key) && !was.damaged:
			c.fail("V4", "%s is recorded and was overwritten by %s", key, p.what)
		case !was.damaged:
			c.fail("V5", "%s had %s and has %s", key, was.fingerprint, o.fingerprint)
		}
	}
	c.objects[key] = o
}

// moved is V16, and V4 and V5: quarantine touches neither a recorded part that
// is as it was recorded, nor a control object, nor what a newer generation made.
func (c *checker) moved(p *process, from, to string) {
	o := c.objects[from]
	switch {
	case !strings.Contains(to, "_quarantine/") && !strings.HasPrefix(to, "elsewhere/"):
		c.fail("V16", "%s moves %s to %s", p.what, from, to)
	case !strings.HasPrefix(path.Base(from), "part-"):
		c.fail("V16", "%s moves %s away", p.what, from)
	case c.counts(from) && !o.damaged:
		c.fail("V16", "%s moves %s away, which is recorded", p.what, from)
	case p.gen > 0 && int64(o.gen) >= p.gen:
		c.fail("V16", "%s moves %s of generation %d away at generation %d", p.what, from, o.gen, p.gen)
	}
	for run, m := range c.sidecars {
		for _, part := range m.Parts {
			if m.prefix+part.Path == from && !o.damaged {
				c.fail("V16", "%s moves %s away, which the manifest of run %s lists", p.what, from, short(run))
			}
		}
	}
	if strings.Contains(to, "_quarantine/") {
		c.s.saw("a part is moved to quarantine")
	}
	delete(c.objects, from)
	delete(c.s.lostParts, from)
}

// counts reports whether the object is as it was recorded by a run that may
// still publish it, or has. What a sealed run recorded is nobody's, nor what a
// repair recorded that another run has ended, nor what a run recorded that was
// followed through a copy of the fence from before it had opened: it made its plan
// later, so its finalizer finds the fence lost. What any of them has published is
// looked for in the sidecars.
func (c *checker) counts(key string) bool {
	r, known := c.recorded[key]
	return known && r.fingerprint == c.objects[key].fingerprint && !c.sealed(r.run) && !c.over[r.run] && !c.passedOver(r.run)
}

// passedOver reports whether a run has not committed, and one that has not sealed
// it has opened a later generation.
func (c *checker) passedOver(run contract.RunID) bool {
	if _, decided := c.sidecars[run]; decided || c.s.copies == 0 {
		return false
	}
	var own, newest contract.Generation
	for g, owner := range c.opened {
		if newest = max(newest, g); owner == run {
			own = max(own, g)
		}
	}
	return own > 0 && c.opened[newest] != run
}

func (c *checker) sealed(run contract.RunID) bool {
	m, there := c.sidecars[run]
	return there && m.Status != contract.StatusSuccess
}

// fence checks a new fence document: V8, V9 and V12.
func (c *checker) fence(p *process, body []byte) {
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		c.fail("V8", "cursor.json cannot be read: %v", err)
		return
	}
	c.s.documents = append(c.s.documents, body)
	if c.s.anew[doc.OwnerRunID] && doc.State == contract.FenceOpen && c.cursor.Generation > 0 && c.cursor.OwnerRunID != doc.OwnerRunID {
		c.s.saw("fence: re-anchored over an older copy")
		c.s.cursorLosses++
		c.cursorLost()
	}
	was := c.cursor
	if was.OwnerRunID == doc.OwnerRunID && doc.State == contract.FenceCommitted && doc.Generation > was.Generation {
		c.repairing[generation{doc.OwnerRunID, doc.Generation}] = true
	}
	p.gen = int64(doc.Generation)
	if doc.Generation < was.Generation {
		c.fail("V8", "cursor.json went from generation %d to %d", was.Generation, doc.Generation)
	}
	if !doc.Position.Equal(was.Position) && doc.Generation == was.Generation && doc.OwnerRunID != was.OwnerRunID {
		c.fail("V9", "the position was moved by run %s, and run %s owns generation %d", short(doc.OwnerRunID), short(was.OwnerRunID), was.Generation)
	}
	if doc.Generation == was.Generation && doc.OwnerRunID != was.OwnerRunID {
		c.fail("V12", "generation %d went from run %s to run %s", doc.Generation, short(was.OwnerRunID), short(doc.OwnerRunID))
	}
	if doc.State == contract.FenceCommitted {
		if owner, known := c.committed[doc.Generation]; known && owner != doc.OwnerRunID {
			c.fail("V12", "generation %d was committed by run %s and by run %s", doc.Generation, short(owner), short(doc.OwnerRunID))
		}
		c.committed[doc.Generation] = doc.OwnerRunID
		c.committedIsPublished(doc)
	}
	c.opensOnce(was, doc)
	c.opensAfterSealing(was, doc)
	c.position(was, doc)
	c.sawFence(was, doc)
	c.cursor = doc
}

// opensOnce is V12 as the fence shows it: a generation is open to one run only,
// whichever copy of the document another one has taken it from. A process that
// has looked before the copy came takes such a generation without asking once
// more, and then nobody goes on from that.
func (c *checker) opensOnce(was, doc contract.CursorDocument) {
	if owner, known := c.opened[was.Generation]; known && owner != was.OwnerRunID && doc.Generation > was.Generation {
		c.fail("V12", "run %s goes on from generation %d of run %s, which run %s has opened", short(doc.OwnerRunID), was.Generation, short(was.OwnerRunID), short(owner))
	}
	if doc.State == contract.FenceOpening {
		return
	}
	asleep := c.s.copies > 0 && doc.OwnerRunID == was.OwnerRunID && doc.Generation > was.Generation
	switch owner, known := c.opened[doc.Generation]; {
	case !known || owner == doc.OwnerRunID:
		c.opened[doc.Generation] = doc.OwnerRunID
	case asleep:
		c.s.saw("fence: a sleeper takes a generation from an older copy")
	default:
		c.fail("V12", "generation %d was opened by run %s and by run %s", doc.Generation, short(owner), short(doc.OwnerRunID))
	}
}

// opensAfterSealing is D15 as the successor sees it: when it opens, the run
// before it is sealed, or has committed and is published.
func (c *checker) opensAfterSealing(was, doc contract.CursorDocument) {
	if was.State != contract.FenceOpening || doc.State != contract.FenceOpen || was.Predecessor == nil {
		return
	}
	pred, decided := c.sidecars[was.Predecessor.RunID]
	at := c.pairOf(pred.prefix)
	switch {
	case !decided:
		c.fail("D15", "run %s opens before run %s is sealed", short(doc.OwnerRunID), short(was.Predecessor.RunID))
	case pred.Status == contract.StatusSuccess && (at.newest < pred.Generation || at.marked < pred.Generation):
		c.fail("D15", "run %s opens, and run %s has committed and is not published", short(doc.OwnerRunID), short(was.Predecessor.RunID))
	}
}

// committedIsPublished is I3: the cursor moves only after manifest and marker.
func (c *checker) committedIsPublished(doc contract.CursorDocument) {
	by := doc.CommittedBy
	if by == nil || by.Manifest == "" {
		if by == nil || by.RunID != doc.OwnerRunID || !c.s.top.export.SkipEmpty {
			c.fail("V14", "run %s commits the cursor without a manifest", short(doc.OwnerRunID))
		}
		c.emptied[doc.OwnerRunID] = true
		return
	}
	m, there := c.sidecars[by.RunID]
	if c.s.damages > 0 && c.repairing[generation{doc.OwnerRunID, doc.Generation}] {
		return // what has committed and lost a part is published by its repair
	}
	if there && c.repaired[by.RunID] && m.Generation > by.Generation {
		return // a repair is on its way to the fence
	}
	if !there || m.fingerprint != by.ManifestFingerprint {
		c.fail("V10", "the cursor is committed by run %s, whose manifest does not stand", short(by.RunID))
		return
	}
	if at := c.pairs[m.prefix]; at == nil || at.newest < m.Generation || at.marked < m.Generation {
		c.fail("V10", "the cursor is committed by run %s before its manifest and marker stand", short(by.RunID))
	}
}

// pairOf returns what is known of the pair of a prefix.
func (c *checker) pairOf(prefix string) *pair {
	if c.pairs[prefix] == nil {
		c.pairs[prefix] = &pair{}
	}
	return c.pairs[prefix]
}

// marker is V7, and V8 for _SUCCESS.
func (c *checker) marker(prefix string, body []byte) {
	f, err := contract.ParseSuccess(body)
	if err != nil {
		c.fail("V7", "_SUCCESS cannot be read: %v", err)
		return
	}
	at := c.pairOf(prefix)
	gen, stood := c.stood[prefix][f]
	switch {
	case !stood:
		c.fail("V7", "_SUCCESS in %s names %s, and no manifest with that fingerprint has stood there", prefix, f)
	case gen < at.marked:
		c.fail("V8", "_SUCCESS in %s went from generation %d to %d", prefix, at.marked, gen)
	}
	at.marked = gen
	c.publications++
	c.s.announce(prefix)
}
