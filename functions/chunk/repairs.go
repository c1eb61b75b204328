package chunk

import (
	"context"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// repairs returns the completed task that c does again, also when c has taken
// the rest of a task that does; nil for any other task.
func (h *handler) repairs(ctx context.Context, c runstate.Chunk) (*runstate.Chunk, error) {
	for {
		from := c.SplitOf
		if c.RepairOf != "" {
			from = c.RepairOf
		}
		if from == "" {
			return nil, nil
		}
		next, err := h.State.GetChunk(ctx, h.task.Run.RunID, from)
		if err != nil {
			return nil, fmt.Errorf("look for what task %s comes from: %w", c.ID, err)
		}
		if c.RepairOf != "" {
			return &next, nil
		}
		c = next
	}
}
