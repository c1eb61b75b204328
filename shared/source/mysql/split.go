package mysql

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// SplitPoints implements [source.Source].
func (s *Source) SplitPoints(ctx context.Context, rel source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	return nil, s.idle()
}
