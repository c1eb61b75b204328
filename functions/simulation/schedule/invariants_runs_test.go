package schedule

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// order is V13: what a run may become. A resume alone goes back to planning,
// and a run with a success sidecar has succeeded whatever its item said.
var order = map[runstate.RunStatus][]runstate.RunStatus{
	"":                     {runstate.RunPlanning},
	runstate.RunPlanning:   {runstate.RunRunning, runstate.RunRefused, runstate.RunFailed, runstate.RunSuperseded},
	runstate.RunRunning:    {runstate.RunFinalizing, runstate.RunFailed, runstate.RunSuperseded},
	runstate.RunFinalizing: {runstate.RunSucceeded, runstate.RunSuperseded},
}

// run checks a run that was written: V13 and V14.
func (c *checker) run(p *process, op string, now runstate.Run) {
	was := c.runs[now.RunID]
	c.runs[now.RunID] = now
	if op == "BeginFinalize" {
		c.freeze(now.RunID, now.Gen)
	}
	if now.Gen < was.Gen {
		c.fail("V8", "%s took run %s from generation %d to %d", p.what, short(now.RunID), was.Gen, now.Gen)
	}
	c.sawRun(op, was, now)
	if was.Status == now.Status {
		return
	}
	resumed := op == "ClaimResume" && was.Status != runstate.RunSuperseded && was.Status != runstate.RunRefused &&
		(was.Status != runstate.RunSucceeded || now.Intent == wire.ActionRepair)
	committed := now.Status == runstate.RunSucceeded && c.hasCommitted(now.RunID)
	if !slices.Contains(order[was.Status], now.Status) && !resumed && !committed {
		c.fail("V13", "%s by %s took run %s from %q to %q", op, p.what, short(now.RunID), was.Status, now.Status)
	}
	if now.Status == runstate.RunSucceeded {
		c.succeeded(now)
	}
	// Without the document nothing that has committed is published to its end, and
	// without the table nobody knows of a run that has committed nothing.
	lost := c.s.cursorLosses > 0 || c.s.copies > 0 || c.s.tableLosses > 0 && c.hasCommittedNothing(now.RunID)
	if now.Status == runstate.RunFailed && !lost && c.hasCommitted(now.RunID) && c.runs[now.RunID].Gen >= c.sidecars[now.RunID].Generation {
		c.fail("V13", "%s by %s failed run %s, which has committed", op, p.what, short(now.RunID))
	}
}

func (c *checker) hasCommitted(run contract.RunID) bool {
	m, there := c.sidecars[run]
	return there && m.Status == contract.StatusSuccess || c.hasCommittedNothing(run)
}

// hasCommittedNothing reports whether a run without rows, whose export says
// skip_empty, has committed: in the fence alone.
func (c *checker) hasCommittedNothing(run contract.RunID) bool {
	return c.emptied[run]
}

// succeeded is V14.
func (c *checker) succeeded(r runstate.Run) {
	if r.Outcome == nil || r.Outcome.ManifestFingerprint == "" {
		if !c.s.top.export.SkipEmpty {
			c.fail("V14", "run %s has succeeded without a manifest", short(r.RunID))
		}
		return
	}
	m := c.sidecars[r.RunID]
	switch {
	case m.Status != contract.StatusSuccess || m.fingerprint != r.Outcome.ManifestFingerprint:
		c.fail("V14", "run %s has succeeded, and its sidecar is %q", short(r.RunID), m.Status)
	case c.s.copies > 0: // what the fence knew may be gone, and nobody goes on from what is there
	case c.cursor.Generation > 0 && c.cursor.Generation < m.Generation:
		c.fail("V14", "run %s has succeeded at generation %d, the cursor is at %d", short(r.RunID), m.Generation, c.cursor.Generation)
	case c.cursor.OwnerRunID == r.RunID && c.cursor.State != contract.FenceCommitted:
		c.fail("V14", "run %s has succeeded and the cursor is %s", short(r.RunID), c.cursor.State)
	}
}

// notified is V15: whoever is told of a run can find in the table what he was
// told.
func (c *checker) notified(p *process, e notify.Event) {
	if c == nil {
		return
	}
	c.s.saw("notified: " + string(e.Kind) + " " + e.Status)
	if e.Kind == notify.Validated {
		if e.Status == "failed" && c.s.damages == 0 {
			c.fail("V7", "the validator finds %v in %s", e.Findings, e.Prefix)
		}
		return
	}
	r, known := c.runs[e.RunID]
	if !known {
		return // the table was lost
	}
	switch e.Status {
	case string(contract.StatusSuccess):
		// Its item is of another life since, and its sidecar stands.
		again := (r.Intent == wire.ActionRepair || c.s.tableLosses > 0) && c.hasCommitted(e.RunID)
		if r.Status != runstate.RunSucceeded && !again {
			c.fail("V15", "%s tells of the success of run %s, which is %s", p.what, short(e.RunID), r.Status)
		}
		if e.Verdict == "failed" && c.s.damages == 0 {
			c.fail("V15", "run %s is found to have published %v", short(e.RunID), e.Findings)
		}
		if e.Verdict != "" && r.Verdict == "" && c.s.faults == 0 && c.s.tableLosses == 0 {
			c.fail("V15", "%s tells of the verdict on run %s before it is recorded", p.what, short(e.RunID))
		}
	case string(runstate.RunFailed), string(runstate.RunSuperseded):
	default:
		c.fail("V15", "%s tells that run %s is %q", p.what, short(e.RunID), e.Status)
	}
}
