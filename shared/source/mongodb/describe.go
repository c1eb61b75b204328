package mongodb

import (
	"context"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// relation is a collection or view as the server has it.
type relation struct {
	source.Relation
	kind    string // as in source.Table
	indexed bool   // _id is unique and the index of it can be read in order
	capped  bool   // the oldest documents make room for new ones
}

// String names the relation in messages.
func (r relation) String() string { return r.kind + " " + r.Name }

// columns are those of every collection (reference §4.4): the types inside a
// document are in its text.
func columns() []rowtype.Column {
	return []rowtype.Column{
		{Name: idColumn, Type: rowtype.Type{Kind: rowtype.Text}, Native: nativeID, Fidelity: rowtype.LogicalString},
		{Name: documentColumn, Type: rowtype.Type{Kind: rowtype.JSON}, Native: "document", Fidelity: rowtype.LogicalString},
	}
}

// key is the one that every collection has.
func key() keyspace.Column { return keyspace.Column{Name: idColumn, Native: nativeID} }

// find looks a collection up. A name with dots is one name: the database is the
// connection's.
func (s *session) find(ctx context.Context, rel source.Relation) (relation, error) {
	switch {
	case rel.Query != "":
		return relation{}, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_QUERY", "a query: is not read from MongoDB: name a collection or a view as table")
	case len(rel.Overrides) > 0:
		return relation{}, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COLUMNS", "columns: is not read from MongoDB: a collection has the columns _id and document, both text")
	case rel.Schema != "":
		rel.Schema, rel.Name = "", rel.Schema+"."+rel.Name
	}
	var answer struct {
		Cursor struct {
			FirstBatch []struct {
				Type    string   `bson:"type"`
				Options bson.Raw `bson:"options"`
			} `bson:"firstBatch"`
		} `bson:"cursor"`
	}
	command := bson.D{{Key: "listCollections", Value: 1}, {Key: "filter", Value: bson.D{{Key: "name", Value: rel.Name}}}, {Key: "authorizedCollections", Value: false}}
	if err := s.run(ctx, command).Decode(&answer); err != nil {
		return relation{}, err
	}
	r := relation{Relation: rel, kind: "table"}
	if len(answer.Cursor.FirstBatch) == 0 {
		return r, s.notFound(ctx, rel.Name)
	}
	found := answer.Cursor.FirstBatch[0]
	_, timed := found.Options.Lookup("timeseries").DocumentOK()
	r.capped, _ = found.Options.Lookup("capped").BooleanOK()
	switch {
	case found.Type == "view":
		r.kind = "view"
	case timed, found.Type == "timeseries":
		r.kind = "time-series collection"
	default:
		// Across shards an _id is unique only if the shard key is.
		r.indexed = !s.sharded
	}
	return r, nil
}

// notFound names the collection that is spelled like name but for its case.
func (s *session) notFound(ctx context.Context, name string) error {
	names, err := s.client.Database(s.target.database).ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return err
	}
	also := ""
	for _, other := range names {
		if strings.EqualFold(other, name) {
			also = "; there is " + other
		}
	}
	return fault.New(fault.Permanent, failure.TableMissing, "there is no collection %s in the database %s%s: names are case-sensitive", name, s.target.database, also)
}

// Describe implements [source.Source]. A view and a time-series collection have
// no index of _id, and documents may share one there or have none: they have no
// key, and are read as a whole.
func (s *Source) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	if err := s.idle(); err != nil {
		return source.Table{}, err
	}
	if err := s.session.wake(ctx); err != nil {
		return source.Table{}, err
	}
	t, err := s.describe(ctx, rel)
	return t, s.session.explain(ctx, err, "look at collection "+label(rel))
}

func (s *Source) describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	r, err := s.session.find(ctx, rel)
	if err != nil {
		return source.Table{}, err
	}
	t := source.Table{Relation: r.Relation, Columns: columns(), Rows: -1, Bytes: -1, Kind: r.kind, KeyColumns: map[string]keyspace.Column{}}
	if r.indexed {
		t.KeyColumns[idColumn] = key()
		t.Keys = []source.UniqueKey{{Name: "_id_", Primary: true, Columns: []keyspace.Column{key()}}}
	}
	if r.kind == "table" {
		t.Rows, t.Bytes = s.session.size(ctx, r)
	}
	t.Consistency = consistencyOfReads
	snapshot, err := s.session.snapshots(r)
	if err == nil && snapshot {
		t.ReadAt, err = s.session.now(ctx, r)
		t.Consistency = "snapshot@" + t.ReadAt
	}
	return t, err
}

// snapshots reports whether the tasks of a run can read one point in time: a
// server of its own keeps none, and capped collections have none. Views and
// time-series collections are read by one task; theirs is asked for only where
// the config does.
func (s *session) snapshots(r relation) (bool, error) {
	kept := (s.setName != "" || s.sharded) && !r.capped
	switch concern := s.cfg.Mongo.ReadConcern; {
	case concern == "snapshot" && !kept:
		return false, fault.New(fault.Usage, "LAPSTRAKE_SOURCE_SNAPSHOT", "source.mongo.read_concern is snapshot, and %s of %s has none: nothing was read. A replica set or a sharded cluster has them, but not of a capped collection; "+
			"with read_concern: server every task reads what a majority of the servers has", r, s.target)
	case concern == "snapshot":
		return true, nil
	case concern == "server":
		return false, nil
	}
	return kept && r.kind == "table", nil
}

// consistencyOfReads is the label of a run whose tasks have no snapshot: each
// reads, in the order of _id, what a majority of the servers has when it comes
// to it. A document that is there all the time comes once.
const consistencyOfReads = "read_committed"

func label(rel source.Relation) string {
	if rel.Schema != "" {
		return rel.Schema + "." + rel.Name
	}
	return rel.Name
}

// size is the server's estimate of documents and of their bytes, -1 for what it
// does not say.
func (s *session) size(ctx context.Context, r relation) (rows, bytes int64) {
	var stats struct {
		Count int64 `bson:"count"`
		Size  int64 `bson:"size"`
	}
	if err := s.run(ctx, bson.D{{Key: "collStats", Value: r.Name}}).Decode(&stats); err != nil {
		return -1, -1
	}
	rows, bytes = stats.Count, stats.Size
	if bytes == 0 && rows > 0 {
		bytes = -1
	}
	return rows, bytes
}

// now is the point in time that every task of a run can read at. The server
// chooses it when it is first read at, so one document is asked for.
func (s *session) now(ctx context.Context, r relation) (string, error) {
	var answer struct {
		Cursor struct {
			At bson.Timestamp `bson:"atClusterTime"`
		} `bson:"cursor"`
	}
	command := bson.D{{Key: "find", Value: r.Name}, {Key: "limit", Value: 1}, {Key: "singleBatch", Value: true}, {Key: "projection", Value: bson.D{{Key: idColumn, Value: 1}}},
		{Key: "readConcern", Value: bson.D{{Key: "level", Value: "snapshot"}}}}
	err := s.run(ctx, command).Decode(&answer)
	if err == nil && answer.Cursor.At.IsZero() {
		err = fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_SNAPSHOT", "%s does not say at which time it read a snapshot: set source.mongo.read_concern: server", s.target)
	}
	if err != nil {
		return "", fmt.Errorf("read a snapshot: %w", err)
	}
	return moment(answer.Cursor.At), nil
}
