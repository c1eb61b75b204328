package commit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// standing is what a run record says to those who did not write it: that of a
// generation which may commit lists its parts, that of a revoked one lists none
// and names who revoked it.
type standing struct {
	RecordVersion int                 `json:"record_version"`
	RunID         contract.RunID      `json:"run_id"`
	Export        contract.ExportName `json:"export"`
	Generation    contract.Generation `json:"generation"`
	RevokedBy     contract.Generation `json:"revoked_by,omitempty"`
	Tasks         []struct {
		Parts []string `json:"parts"`
	} `json:"tasks,omitempty"`
}

// Revoke makes sure that what a resume or a repair at generation g moves is not
// what an older generation of the run is about to commit, and returns the names
// of the parts that must stay where they are (ADR-0007).
//
// The table does not know: a finalizer that has read the fence commits whatever
// the table has become since. But it creates its generation's record before its
// sidecar, and the record is created once. So every generation from first to
// below g is revoked by a record of this one's, and then can never commit; or its
// own record stands, and then it may commit at any time, and every part that the
// record lists is claimed.
func (f Fence) Revoke(ctx context.Context, run contract.RunID, first, g contract.Generation) (claimed map[string]bool, err error) {
	return f.revoke(ctx, run, first, g, g)
}

// SpareRepairs does the same for the repairs of other runs, and takes from the
// moves what one of them may still publish. Before a run took the fence, at
// generation first, the run that had committed last may have been under repair,
// and a finalizer of that repair replaces its sidecar whenever it wakes up.
// Which run that was for an object to be moved is told by the sidecars: the last
// one below the object's generation.
//
// Generations without an object to be moved are not looked at: what their
// repairs publish stays where it is.
func (f Fence) SpareRepairs(ctx context.Context, found *Inspection, first, g contract.Generation) error {
	for i, last := range found.committed {
		end := first
		if i+1 < len(found.committed) {
			end = min(end, found.committed[i+1].generation)
		}
		repaired := func(m Move) bool { return last.generation < m.generation && m.generation < end }
		if !slices.ContainsFunc(found.Moves, repaired) {
			continue
		}
		claimed, err := f.revoke(ctx, last.run, last.generation+1, end, g)
		if err != nil {
			return err
		}
		found.Moves = slices.DeleteFunc(found.Moves, func(m Move) bool { return claimed[m.From] })
	}
	return nil
}

// revoke revokes the generations of a run from first to below end.
func (f Fence) revoke(ctx context.Context, run contract.RunID, first, end, by contract.Generation) (claimed map[string]bool, err error) {
	claimed = make(map[string]bool)
	for h := max(first, 1); h < end; h++ {
		body, err := json.Marshal(standing{RecordVersion: 1, RunID: run, Export: f.Export, Generation: h, RevokedBy: by})
		if err != nil {
			return nil, err
		}
		key := contract.RecordKey(f.Export, run, h)
		_, found, err := create(ctx, f.Root, key, body, metaOf(body))
		if err != nil {
			return nil, fmt.Errorf("revoke generation %d of run %s: %w", h, run, err)
		}
		if found == nil {
			continue
		}
		record, err := decodeStanding(key, found)
		if err != nil {
			return nil, err
		}
		if record.RunID != run {
			return nil, fault.New(fault.Refused, "LAPSTRAKE_DEST_RECORD_OF_OTHER_RUN", "run %s: %s belongs to run %s; nothing was moved", run, key, record.RunID)
		}
		for _, task := range record.Tasks {
			for _, name := range task.Parts {
				claimed[name] = true
			}
		}
	}
	return claimed, nil
}

func decodeStanding(key string, body []byte) (standing, error) {
	var record standing
	if err := json.Unmarshal(body, &record); err != nil {
		return record, fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_RECORD_UNREADABLE", "%s cannot be read, so which parts its generation may still publish is not known; nothing was changed. Restore it from the bucket's versions, or run the export again", key)
	}
	return record, nil
}
