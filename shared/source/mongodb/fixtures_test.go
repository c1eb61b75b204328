package mongodb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// fixture returns the documents of a testdata/*.ejson.jsonl and the text of each
// in one flavour.
func fixture(t *testing.T, name string, canonical bool) (documents []bson.Raw, texts []string) {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name + ".ejson.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(body) {
		var d bson.Raw
		if err := bson.UnmarshalExtJSON(line, true, &d); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	expected, err := os.ReadFile("testdata/" + name + ".expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Documents []struct{ Relaxed, Canonical string } `json:"document_column_in_fixture_order"`
	}
	if err := json.Unmarshal(expected, &file); err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Documents {
		if canonical {
			texts = append(texts, d.Canonical)
		} else {
			texts = append(texts, d.Relaxed)
		}
	}
	return documents, texts
}

// TMO-01 Decimal128 specials, TMO-02 dates past year 9999, TMO-03 int64 in
// relaxed mode, TMO-04 key order.
func TestTheTypesOfTheHazardsAreExact(t *testing.T) {
	for _, canonical := range []bool{false, true} {
		t.Run(fmt.Sprintf("canonical %t", canonical), func(t *testing.T) {
			documents, want := fixture(t, "mongo_01_types", canonical)
			ids := []string{"000000000000000000000001", "000000000000000000000002", "7fffffffffffffffffffffff", "ffffffffffffffffffffffff"}
			for i := range want {
				want[i] = ids[i] + "|" + want[i]
			}
			f := (&fake{hello: replicaSet, documents: documents}).start(t) // the stand-in does not store the year 10000
			f.mongo.Canonical = canonical
			s := f.source(t)
			spec := specOf(t, s, "docs")
			for range 2 { // and the same bytes again
				if got := mustRead(t, s, spec); !slices.Equal(got, want) {
					t.Errorf("got %q\nwant %q", got, want)
				}
			}
		})
	}
}

// PLN-11 string _id order.
func TestTextIDsComeOnceAtEverySize(t *testing.T) {
	f := newServer(t)
	documents, texts := fixture(t, "mongo_02_string_ids", false)
	var want []string
	for _, at := range []int{3, 4, 5, 1, 0, 2} { // '', '10', '9', 'A', 'a', 'é'
		want = append(want, documents[at].Lookup(idColumn).StringValue()+"|"+texts[at])
	}
	for _, d := range documents {
		f.insert(t, "docs", d)
	}
	s := f.source(t)
	spec := specOf(t, s, "docs")
	for _, size := range []int{1, 2, 3, 100} {
		spec.BatchRows = size
		for n := range 8 {
			points, err := s.SplitPoints(t.Context(), spec.Relation, spec.Key, nil, n)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			after := keyspace.Key(nil)
			for _, upTo := range append(points, nil) {
				spec.Range = keyspace.Range{After: after, UpTo: upTo}
				got, after = append(got, mustRead(t, s, spec)...), upTo
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d ranges, batches of %d: %q", len(points)+1, size, got)
			}
		}
	}
}

// TMO-05 views, time-series, capped collections; TMO-06 a scan without an order.
func TestCollectionsWithoutAnIndexOfIDsAreReadInOnePass(t *testing.T) {
	f := newServer(t)
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 3}, {Key: "a", Value: 1}}, bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 1}}, bson.D{{Key: "_id", Value: 2}, {Key: "a", Value: 2}})
	f.command(t, bson.D{{Key: "create", Value: "same"}, {Key: "viewOn", Value: "docs"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: "$a"}}}}}}})
	f.command(t, bson.D{{Key: "create", Value: "none"}, {Key: "viewOn", Value: "docs"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}}}}}}})
	f.command(t, bson.D{{Key: "create", Value: "times"}, {Key: "timeseries", Value: bson.D{{Key: "timeField", Value: "t"}}}})
	f.insert(t, "times", bson.D{{Key: "_id", Value: 1}, {Key: "t", Value: bson.DateTime(0)}})
	f.command(t, bson.D{{Key: "create", Value: "ring"}, {Key: "capped", Value: true}, {Key: "size", Value: 4096}})
	f.insert(t, "ring", bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 1}})
	s := f.source(t)
	for _, tc := range []struct {
		collection, kind string
		keys             int
		want             []string
	}{
		{"same", "view", 0, []string{`1|{"_id":1}`, `1|{"_id":1}`, `2|{"_id":2}`}},
		{"none", "view", 0, []string{`∅|{"a":1}`, `∅|{"a":1}`, `∅|{"a":2}`}},
		{"times", "time-series collection", 0, []string{`1|{"_id":1,"t":{"$date":"1970-01-01T00:00:00Z"}}`}},
		{"ring", "table", 1, []string{`1|{"_id":1}`, `2|{"_id":2}`}},
	} {
		t.Run(tc.collection, func(t *testing.T) {
			table, err := s.Describe(t.Context(), keyRelation(tc.collection))
			if err != nil || table.Kind != tc.kind || len(table.Keys) != tc.keys {
				t.Fatalf("%+v, %v", table, err)
			}
			got := mustRead(t, s, specOf(t, s, tc.collection))
			if slices.Sort(got); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
