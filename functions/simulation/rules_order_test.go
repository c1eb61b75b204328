package simulation

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func writtenBeforeRecorded(_, now moment) error {
	for _, chunks := range now.chunks {
		for _, c := range chunks {
			for _, p := range c.Parts {
				if err := now.part(p.Path, p.SizeBytes, p.Fingerprint); err != nil && c.Live() {
					return fmt.Errorf("task %s is %s: %w", c.ID, c.Status, err)
				}
			}
		}
	}
	return nil
}

func writtenBeforeCursor(_, now moment) error {
	doc, stands, err := now.fence()
	if err != nil || !stands || doc.State != contract.FenceCommitted {
		return err
	}
	m, body, committed := now.sidecar(doc.OwnerRunID)
	switch {
	case !committed:
		return fmt.Errorf("the cursor is committed by run %s, which has no success manifest", doc.OwnerRunID)
	case doc.Position != nil && (m.Position == nil || !doc.Position.Equal(m.Position.To)):
		return fmt.Errorf("the cursor is at %+v, the manifest of run %s ends elsewhere", doc.Position, doc.OwnerRunID)
	case doc.CommittedBy == nil || doc.CommittedBy.RunID != doc.OwnerRunID || doc.CommittedBy.ManifestFingerprint != contract.FingerprintOf(body):
		return fmt.Errorf("the cursor is committed by %+v", doc.CommittedBy)
	}
	return now.parts(m)
}

func manifestBeforeCursor(before, now moment) error {
	was, _, _ := before.fence()
	doc, stands, err := now.fence()
	if stands && !doc.Position.Equal(was.Position) { // by its owner, or by a successor that rolled it forward
		m, _, committed := now.sidecar(doc.CommittedBy.RunID)
		if !committed || m.Position == nil || !m.Position.To.Equal(doc.Position) || !m.Position.From.Equal(was.Position) {
			return fmt.Errorf("the position went from %+v to %+v, which no success manifest covers", was.Position, doc.Position)
		}
		if err := now.parts(m); err != nil {
			return err
		}
	}
	if err != nil || !stands || doc.State != contract.FenceCommitted || was.State == contract.FenceCommitted {
		return err
	}
	// The cursor has just advanced.
	_, body, _ := now.sidecar(doc.OwnerRunID)
	if _, fits := now.marked(); !fits || !bytes.Equal(body, now.objects[out+contract.ManifestName].body) {
		return fmt.Errorf("the cursor advanced before manifest and marker of run %s stood", doc.OwnerRunID)
	}
	return nil
}

func outcomeAfterVerdict(_, now moment) error {
	for _, run := range now.runs {
		_, _, committed := now.sidecar(run.RunID)
		doc, _, err := now.fence()
		switch {
		case err != nil:
			return err
		case (run.Outcome != nil) != (run.Status == runstate.RunSucceeded):
			return fmt.Errorf("run %s is %s with outcome %+v", run.RunID, run.Status, run.Outcome)
		case run.Outcome == nil && (run.Verdict != "" || run.Notified):
			return fmt.Errorf("run %s is %s, with verdict %q, notified %v", run.RunID, run.Status, run.Verdict, run.Notified)
		case run.Outcome != nil && (!committed || doc.OwnerRunID == run.RunID && doc.State != contract.FenceCommitted):
			return fmt.Errorf("run %s has its outcome before it is decided (%s)", run.RunID, doc.State)
		}
	}
	return nil
}

func chunksGoForward(before, now moment) error {
	for run, chunks := range before.chunks {
		after := make(map[contract.TaskID]runstate.Chunk)
		for _, c := range now.chunks[run] {
			after[c.ID] = c
		}
		if len(after) == 0 {
			continue // the table was lost
		}
		for _, c := range chunks {
			is, there := after[c.ID]
			switch {
			case !there:
				return fmt.Errorf("task %s is gone", c.ID)
			case is.Attempts < c.Attempts || is.Attempts > is.MaxAttempts:
				return fmt.Errorf("task %s had %d attempts, has %d of %d", c.ID, c.Attempts, is.Attempts, is.MaxAttempts)
			case c.Status == runstate.ChunkCompleted && (is.Status != c.Status || fmt.Sprint(is.Parts) != fmt.Sprint(c.Parts) || is.Attempts != c.Attempts):
				return fmt.Errorf("completed task %s has changed: %+v", c.ID, is)
			case c.Status != runstate.ChunkCompleted && !slices.Contains(forward[c.Status], is.Status):
				return fmt.Errorf("task %s went from %s to %s", c.ID, c.Status, is.Status)
			}
		}
	}
	return nil
}

func finalizedWhenComplete(_, now moment) error {
	for _, run := range now.runs {
		_, _, committed := now.sidecar(run.RunID)
		if run.Status != runstate.RunFinalizing && !committed || len(now.chunks[run.RunID]) == 0 {
			continue
		}
		p, err := now.plan(run.RunID)
		if err != nil {
			return err
		}
		ranges := make([][]keyspace.Range, len(p.Tasks))
		for _, c := range now.chunks[run.RunID] {
			if !c.Live() {
				continue
			}
			if c.Status != runstate.ChunkCompleted {
				return fmt.Errorf("run %s is %s, task %s is %s", run.RunID, run.Status, c.ID, c.Status)
			}
			base, _ := c.ID.Base()
			ranges[base] = append(ranges[base], c.Range)
		}
		for i, whole := range p.Tasks {
			if err := keyspace.Tiles(whole, ranges[i]); err != nil {
				return fmt.Errorf("run %s is %s: %w", run.RunID, run.Status, err)
			}
		}
	}
	return nil
}

func pairIsConsistent(_, now moment) error {
	stands, fits := now.marked()
	if !stands || fits {
		return nil
	}
	doc, _, err := now.fence()
	if err != nil {
		return err
	}
	if doc.State == contract.FenceCommitted {
		return fmt.Errorf("the marker is stale, and nobody is publishing")
	}
	// Between two writes of a publication: the manifest is whole all the same.
	return oneManifestARun(moment{}, now)
}

func pairFitsInTheEnd(h *history) error {
	if _, fits := h.last().marked(); !fits {
		return fmt.Errorf("in the end the marker does not fit the manifest")
	}
	return nil
}

func deliveredInTheEnd(h *history) error { return h.shape.delivered(h.w, h.last()) }
