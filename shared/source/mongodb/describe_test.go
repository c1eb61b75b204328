package mongodb

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

func keyRelation(name string) source.Relation { return source.Relation{Name: name} }

func TestACollectionIsDescribed(t *testing.T) {
	f := newServer(t)
	f.insert(t, "shop.orders.2026", bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}})
	table, err := f.source(t).Describe(t.Context(), source.Relation{Schema: "shop", Name: "orders.2026"})
	if err != nil {
		t.Fatal(err)
	}
	if table.Relation.Schema != "" || table.Relation.Name != "shop.orders.2026" {
		t.Errorf("relation %+v: a name with dots is one name", table.Relation)
	}
	if table.Rows != 2 || table.Bytes <= 0 || table.Kind != "table" {
		t.Errorf("%+v", table)
	}
	var got []string
	for _, c := range table.Columns {
		got = append(got, c.Name+" "+c.Type.String()+" "+c.Fidelity)
	}
	if want := []string{"_id text logical_string", "document json logical_string"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
}

func TestWhatAServerDoesNotSayIsUnknown(t *testing.T) {
	f := (&fake{hello: standalone, documents: []bson.Raw{document(t, bson.D{{Key: "_id", Value: 1}})}}).start(t)
	table, err := f.source(t).Describe(t.Context(), keyRelation("docs"))
	if err != nil || table.Rows != 1 || table.Bytes != -1 {
		t.Errorf("%d rows of %d bytes, %v: no size of documents that are there is no size", table.Rows, table.Bytes, err)
	}
}

func TestWhatIsNotReadIsRefused(t *testing.T) {
	f := newServer(t)
	f.insert(t, "Orders", bson.D{{Key: "_id", Value: 1}})
	s := f.source(t)
	spec := specOf(t, s, "Orders")
	for _, tc := range []struct {
		name  string
		ask   func() error
		class fault.Class
		code  fault.Code
		says  []string
	}{
		{"another spelling", func() error { _, err := s.Describe(t.Context(), keyRelation("orders")); return err }, fault.Permanent, failure.TableMissing, []string{"no collection orders", "there is Orders"}},
		{"a query", func() error { _, err := s.Describe(t.Context(), source.Relation{Query: "{}"}); return err }, fault.Usage, "LAPSTRAKE_CONFIG_QUERY", []string{"view"}},
		{"an override", func() error {
			_, err := s.Describe(t.Context(), source.Relation{Name: "Orders", Overrides: map[string]string{"_id": "int8"}})
			return err
		}, fault.Usage, "LAPSTRAKE_CONFIG_COLUMNS", []string{"_id and document"}},
		{"a cursor", func() error {
			_, err := s.CursorEnd(t.Context(), spec.Relation, source.CursorQuery{Cursor: key()})
			return err
		}, fault.Usage, codeMode, []string{"mode: chunked"}},
		{"a column of integers", func() error { _, err := s.IntegerBounds(t.Context(), spec.Relation, key()); return err }, fault.Usage, codeMode, []string{"_id"}},
		{"a window to estimate", func() error {
			_, err := s.EstimateRows(t.Context(), spec.Relation, keyspace.Window{Cursor: key()})
			return err
		}, fault.Usage, codeMode, nil},
		{"a window to cut", func() error {
			_, err := s.SplitPoints(t.Context(), spec.Relation, spec.Key, &keyspace.Window{Cursor: key()}, 2)
			return err
		}, fault.Usage, codeMode, nil},
		{"a window to read", func() error {
			windowed := spec
			windowed.Window = &keyspace.Window{Cursor: key(), To: "1"}
			_, err := s.Read(t.Context(), windowed)
			return err
		}, fault.Usage, codeMode, nil},
		{"another shape than the planned one", func() error {
			changed := spec
			changed.Columns = slices.Clone(spec.Columns)
			changed.Columns[1].Name = "body"
			_, err := s.Read(t.Context(), changed)
			return err
		}, fault.Drift, failure.Drift, []string{"Orders", "column body is gone"}},
		{"a bound that is no value", func() error {
			bound := spec
			bound.Range.UpTo = keyspace.Key{"{"}
			_, err := s.Read(t.Context(), bound)
			return err
		}, fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", nil},
		{"a bound of two values", func() error {
			bound := spec
			bound.Range.UpTo = keyspace.Key{"1", "2"}
			_, err := s.Read(t.Context(), bound)
			return err
		}, fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", nil},
		{"a time that is none", func() error {
			at := spec
			at.ReadAt = "yesterday"
			_, err := s.Read(t.Context(), at)
			return err
		}, fault.Bug, "LAPSTRAKE_INTERNAL_READ_AT", []string{"yesterday"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sourcetest.WantRefusal(t, tc.ask(), tc.class, tc.code, tc.says...)
			if rows := mustRead(t, s, spec); len(rows) != 1 {
				t.Errorf("the source reads %q afterwards", rows)
			}
		})
	}
	t.Run("a collection that became a view", func(t *testing.T) {
		if err := f.db.Collection("Orders").Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.command(t, bson.D{{Key: "create", Value: "Orders"}, {Key: "viewOn", Value: "other"}, {Key: "pipeline", Value: bson.A{}}})
		_, err := s.Read(t.Context(), spec)
		sourcetest.WantRefusal(t, err, fault.Drift, failure.Drift, "unique key")
	})
}

func TestTwoReadsAtOnceAreABug(t *testing.T) {
	f := newServer(t)
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}})
	s := f.source(t)
	spec := specOf(t, s, "docs")
	spec.BatchRows = 1
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Describe(t.Context(), spec.Relation)
	sourcetest.WantRefusal(t, err, fault.Bug, "LAPSTRAKE_INTERNAL_SOURCE_BUSY")
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := mustRead(t, s, spec); len(rows) != 2 {
		t.Errorf("%q", rows)
	}
}
