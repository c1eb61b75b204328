package dispatch

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// listConcurrency is how many shards are read at the same time.
const listConcurrency = 16

// AllChunks returns every chunk of a run, superseded ones too, in ascending
// order of ids, by consistent reads. The run has been planned: it knows its
// shards.
func AllChunks(ctx context.Context, table runstate.Table, run runstate.Run) ([]runstate.Chunk, error) {
	shards := make([][]runstate.Chunk, run.Shards)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(listConcurrency)
	for s := range shards {
		g.Go(func() (err error) {
			shards[s], err = table.ListChunks(ctx, run.RunID, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("list the chunks of run %s: %w", run.RunID, err)
	}
	var all []runstate.Chunk
	for _, s := range shards {
		all = append(all, s...)
	}
	return all, nil
}
