// Package mongodb reads MongoDB 5.0 and later. Layer: L2 (execution).
//
// A collection has two columns: _id as text and the document as extended JSON
// (reference §4.4). A range is one find in the order of the index of _id. Only
// the server compares ids, by the order it has for values of every type: the
// bounds are expressions, since a plain $gt leaves out ids of other types.
//
// Where the server can, every task of a run reads at one cluster time.
package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
)

// Engine is the engine's name in a config, a plan and a manifest.
const Engine = "mongo"

// Source is a session with a database.
type Source struct {
	session session
	reading *reader // the open one, or nil
}

var _ source.Source = (*Source)(nil)

// Open connects to the database of cfg.
func Open(ctx context.Context, cfg exportconfig.Source, resolve endpoint.Resolve) (*Source, error) {
	s := &Source{session: session{cfg: cfg, resolve: resolve}}
	if err := s.session.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the session, and an open reader with it.
func (s *Source) Close(ctx context.Context) error {
	if s.reading != nil {
		_ = s.reading.Close(ctx)
	}
	s.session.close(ctx)
	return nil
}

// Identity is the database's name and that of the replica set, which a
// standalone server and a sharded cluster do not have. It does not tell two
// clusters apart that have the same names.
func (s *Source) Identity(ctx context.Context) (contract.SourceIdentity, error) {
	id := contract.SourceIdentity{Engine: Engine, Database: s.session.target.database}
	err := s.idle()
	if err == nil {
		id.SystemIdentifier, err = s.session.setName, s.session.wake(ctx)
	}
	return id, err
}

// idle refuses a call while a reader is open.
func (s *Source) idle() error {
	if s.reading != nil && !s.reading.closed {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_SOURCE_BUSY", "the source is asked for something while a reader of it is open")
	}
	return nil
}

// codeMode is of a mode that a collection cannot be read in: it has one key,
// _id, whose values are of any type.
const codeMode fault.Code = "LAPSTRAKE_PLAN_MODE"

func (s *Source) notHere(what string) error {
	return fault.New(fault.Usage, codeMode, "%s is not read from MongoDB: nothing was read. Use mode: full, or mode: chunked, which cuts by _id", what)
}

// IntegerBounds implements [source.Source]: no column is one of integers only.
func (s *Source) IntegerBounds(context.Context, source.Relation, keyspace.Column) (source.IntegerBounds, error) {
	return source.IntegerBounds{}, s.notHere("a range of an integer column")
}

// CursorEnd implements [source.Source]: there is no cursor.
func (s *Source) CursorEnd(context.Context, source.Relation, source.CursorQuery) (source.CursorEnd, error) {
	return source.CursorEnd{}, s.notHere("a cursor")
}

// TimeWindow implements [source.Source]: there is no column of time.
func (s *Source) TimeWindow(context.Context, source.Relation, keyspace.Column, bool, time.Time, time.Time) (keyspace.Window, int64, error) {
	return keyspace.Window{}, 0, s.notHere("a window of time")
}

// EstimateRows implements [source.Source]: there are no windows.
func (s *Source) EstimateRows(context.Context, source.Relation, keyspace.Window) (int64, error) {
	return 0, s.notHere("a window")
}

// literal keeps a value from being read as an expression.
func literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }
