package schedule

import (
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/source"
)

// V11, that no source is acknowledged beyond the cursor, holds because no source
// is acknowledged at all: there is no mode that drains a log.

// deliveries is what Success manifests have of each version of a row, and of
// each key, in modes with a position.
type deliveries struct {
	versions map[int64]contract.RunID
	keys     map[int64]contract.RunID
}

// position checks a change of the position: V9, and V10 for all rows behind it.
func (c *checker) position(was, now contract.CursorDocument) {
	p, q := was.Position, now.Position
	if q == nil || was.Generation == 0 && c.s.cursorLosses > 0 {
		if p != nil {
			c.fail("V9", "the position is gone at generation %d", now.Generation)
		}
		return
	}
	committed := now.State == contract.FenceCommitted && was.State != now.State && now.OwnerRunID == was.OwnerRunID
	opened := was.State == contract.FenceOpening && now.State == contract.FenceOpen && was.Predecessor != nil
	switch {
	case p.Equal(q):
		if !committed {
			return
		}
		c.s.saw("cursor: a window is committed that ends where it begins")
	case !committed && !opened:
		c.fail("V9", "the position went from %v to %v while the fence went from %s to %s", p, q, was.State, now.State)
	case p != nil && number(q.Value) < number(p.Value):
		c.fail("V9", "the position went from %s to %s", p.Value, q.Value)
	case p != nil && p.Value == q.Value:
		c.s.saw("cursor: late equals are delivered")
	case p != nil:
		c.s.saw("cursor: the position moves on")
	}
	c.behind(q)
}

// behind is V10: whatever the source has behind the cursor is in a Success
// manifest.
func (c *checker) behind(p *contract.Position) {
	at := number(p.Value)
	for _, x := range c.s.source.rows {
		v, has := c.s.source.at(x)
		delivered := slices.ContainsFunc(p.DeliveredKeys, func(k []string) bool { return k[0] == strconv.FormatInt(x.key, 10) })
		if !has || v > at || v == at && c.s.top.cursor == "at" && !delivered {
			continue
		}
		if !c.has(x) {
			c.fail("V10", "%v at %d lies behind the cursor, %d, and is in no Success manifest", x, v, at)
		}
	}
}

func (c *checker) has(x row) bool {
	_, there := c.delivered.versions[x.version]
	if c.s.top.cursor == "id" { // a row that is changed behind the cursor is not read again
		_, there = c.delivered.keys[x.key]
	}
	return there
}

// once is V10: no row is in two Success manifests of an export with a position.
// Without a key the rows at the position come again, and are counted.
func (c *checker) once(m contract.Manifest, rows map[row]bool) {
	if m.Position == nil {
		return
	}
	again := int64(0)
	for x := range rows {
		before, twice := c.delivered.versions[x.version]
		if c.s.top.cursor == "id" {
			before, twice = c.delivered.keys[x.key]
		}
		at, _ := c.s.source.at(x)
		edge := !c.s.top.keyed && m.Position.From != nil && at == number(m.Position.From.Value)
		if edge {
			again++
		}
		if twice && before != m.RunID && !edge {
			c.fail("V10", "%v is in the manifests of run %s and of run %s", x, short(before), short(m.RunID))
		}
	}
	if got := m.Source.Extraction.RepeatedRows; got != again {
		c.fail("V10", "the manifest of run %s counts %d rows that may have come before, %d have", short(m.RunID), got, again)
	}
	if again > 0 {
		c.s.saw("cursor: rows come again without a key, and are counted")
	}
	for x := range rows {
		if _, twice := c.delivered.versions[x.version]; twice && !c.s.top.keyed {
			continue // it stays the row of whoever had it first, and may repair that
		}
		c.delivered.versions[x.version], c.delivered.keys[x.key] = m.RunID, m.RunID
	}
}

// expected are the versions of rows that a run was to look for: all, or those in
// its window.
func (c *checker) expected(run contract.RunID) func(row) bool {
	p := c.plans[run]
	switch limits := p.Limits(); {
	case c.s.top.cursor == "":
		return func(row) bool { return true }
	case limits == nil:
		return func(row) bool { return false }
	default:
		return func(x row) bool { return c.s.source.within(x, limits) }
	}
}

// allDelivered is what one more run has to come to at the end, in modes with a
// window.
func (c *checker) allDelivered(m contract.Manifest) {
	if c.s.top.cursor == "time" {
		limits := c.plans[m.RunID].Limits()
		if want := int64(len(c.s.source.in(source.ReadSpec{Window: limits}))); m.RowCount != want {
			c.fail("V17", "one more run delivers %d rows, its window has %d", m.RowCount, want)
		}
		return
	}
	for _, x := range c.s.source.rows {
		if _, has := c.s.source.at(x); has && !c.has(x) {
			c.fail("V17", "one more run has succeeded, and %v is in no Success manifest", x)
		}
	}
}
