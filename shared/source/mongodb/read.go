package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
	"github.com/lapstrake/lapstrake/shared/source/shape"
)

// Read implements [source.Source]. ctx bounds the opening only; afterwards the
// context of each Next does. The server sends a batch when it is asked for one.
func (s *Source) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if err := s.session.wake(ctx); err != nil {
		return nil, err
	}
	r, err := s.open(ctx, spec)
	if err != nil {
		return nil, s.session.explain(ctx, err, "read collection "+label(spec.Relation))
	}
	s.reading = r
	return r, nil
}

func (s *Source) open(ctx context.Context, spec source.ReadSpec) (*reader, error) {
	rel, err := s.session.find(ctx, spec.Relation)
	if err != nil {
		return nil, err
	}
	if changes := shape.Changes(spec.Columns, columns(), func(name string) string { return name }); changes != "" {
		return nil, drift(rel, changes)
	}
	if len(spec.Key) > 0 && (!rel.indexed || len(spec.Key) != 1 || spec.Key[0].Name != idColumn) {
		return nil, drift(rel, "it no longer has _id for a unique key")
	}
	if spec.Window != nil {
		return nil, s.notHere("a window")
	}
	r := &reader{
		source: s, relation: rel, spec: spec,
		// A collection that is cut by an _id that no other document has.
		cuttable: spec.Ordered && spec.Unique && len(spec.Key) > 0 && !spec.Range.All && !spec.Range.Null,
		batch:    rowbatch.New(spec.Columns),
		text:     extjson.Encoder{Canonical: s.session.cfg.Mongo.Canonical},
		ids:      extjson.Encoder{Canonical: true},
	}
	r.batchRows, r.batchBytes = spec.Batch()
	command, err := s.session.command(r)
	if err != nil {
		return nil, err
	}
	db := s.session.client.Database(s.session.target.database)
	if r.cursor, err = db.RunCommandCursor(ctx, command, s.session.where()); err != nil {
		return nil, err
	}
	r.cursor.SetBatchSize(int32(r.batchRows))
	return r, nil
}

// drift is for a collection that is another than the planned one.
func drift(r relation, changes string) error {
	return fault.New(fault.Drift, failure.Drift, "%s has changed since the run was planned: %s. Nothing of this range was delivered; start a new run", r, changes)
}

// command asks for the documents of a range, in the order of the index of _id,
// so that none comes twice or is left out while others move (TMO-06). What has
// no such index is sorted by the server, on its disk if need be.
func (s *session) command(r *reader) (bson.D, error) {
	filter := bson.D{}
	if !r.spec.Range.All {
		var err error
		if filter, err = bounds(r.spec.Range); err != nil {
			return nil, err
		}
	}
	order := bson.D{{Key: idColumn, Value: 1}}
	command := bson.D{{Key: "find", Value: r.relation.Name}, {Key: "filter", Value: filter}, {Key: "sort", Value: order}, {Key: "batchSize", Value: int32(r.batchRows)}}
	if r.relation.kind == "table" {
		command = append(command, bson.E{Key: "hint", Value: order})
	} else {
		command = append(command, bson.E{Key: "allowDiskUse", Value: true})
	}
	if !s.cfg.Mongo.CursorTimeout {
		command = append(command, bson.E{Key: "noCursorTimeout", Value: true})
	}
	if n := s.cfg.StatementTimeoutSeconds; n > 0 {
		command = append(command, bson.E{Key: "maxTimeMS", Value: 1000 * int64(n)})
	}
	concern := bson.D{{Key: "level", Value: "majority"}}
	if r.spec.ReadAt != "" {
		at, ok := parseMoment(r.spec.ReadAt)
		if !ok {
			return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_READ_AT", "%q is no cluster time", r.spec.ReadAt)
		}
		concern = bson.D{{Key: "level", Value: "snapshot"}, {Key: "atClusterTime", Value: at}}
	}
	return append(command, bson.E{Key: "readConcern", Value: concern}), nil
}

// position is where a task was read: the cluster time of its snapshot, or "" if
// it has none.
func (r *reader) position() string {
	if r.spec.ReadAt == "" {
		return ""
	}
	return fmt.Sprintf("cluster time %s", r.spec.ReadAt)
}
