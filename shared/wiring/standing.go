package wiring

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Standing is what the fence document of an export says of it.
type Standing struct {
	// Position is how far the export has come; nil before its first run and in
	// modes that keep no position.
	Position *contract.Position
	// Old is what a run would be refused with, because the document is an older
	// copy; nil for the newest one.
	Old error
}

// Standing reads the fence document of an export. Nothing is written, not even
// an absent folder.
func (l *Local) Standing(ctx context.Context, e exportconfig.Export) (Standing, error) {
	if e.Destination.Kind == "local" {
		if _, err := os.Stat(strings.TrimPrefix(e.Destination.URI, "file://")); errors.Is(err, fs.ErrNotExist) {
			return Standing{}, nil
		}
	}
	root, err := ReadOnlyDestinations().Open(ctx, e.Destination)
	if err != nil {
		return Standing{}, err
	}
	held, err := commit.Fence{Root: root, Export: contract.ExportName(e.Name)}.ReadNewest(ctx)
	s := Standing{Position: held.Doc.Position}
	if fault.CodeOf(err) == commit.CodeCursorOld {
		s.Old, err = err, nil
	}
	return s, err
}

// Preview returns the plan that a run of the export would have now, with a
// warning if the run would be refused because the position is of an older copy.
// Nothing is written.
func (l *Local) Preview(ctx context.Context, e exportconfig.Export) (chunkplan.Plan, error) {
	s := planner.DefaultSettings()
	s.Budget = l.Budget
	since := planner.Since{Scheduled: l.Clock.Now()}
	var standing Standing
	if e.KeepsPosition() {
		var err error
		if standing, err = l.Standing(ctx, e); err != nil {
			return chunkplan.Plan{}, err
		}
		since.Position = standing.Position
	}
	plan, err := planner.Preview(ctx, l.sources(), l.Formats, s, l.Config.SourceOf(e), e, since)
	if err == nil && standing.Old != nil {
		plan.Diagnostics = append(plan.Diagnostics, exportconfig.Diagnostic{Code: string(fault.CodeOf(standing.Old)), Message: standing.Old.Error()})
	}
	return plan, err
}
