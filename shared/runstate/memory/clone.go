package memory

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

func cloneRun(r runstate.Run) runstate.Run {
	r.Trigger = slices.Clone(r.Trigger)
	r.Outcome = clone(r.Outcome)
	r.Callback = clone(r.Callback)
	r.Error = clone(r.Error)
	return r
}

func cloneChunk(c runstate.Chunk) runstate.Chunk {
	c.Range.After = slices.Clone(c.Range.After)
	c.Range.UpTo = slices.Clone(c.Range.UpTo)
	c.Parts = slices.Clone(c.Parts)
	c.HiKeys = slices.Clone(c.HiKeys)
	for i, key := range c.HiKeys {
		c.HiKeys[i] = slices.Clone(key)
	}
	c.Error = clone(c.Error)
	return c
}

// clone copies what a pointer points to; it holds no further pointer.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
