package e2e

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestHazardsOfKeysInMongoDB(t *testing.T) {
	at, db := mongoDatabase(t)
	for name, ids := range map[string][]any{
		"nothing": nil,
		"single":  {42},
		"around":  {-3, -2, -1, 0, 1, 2, 3},
		"words":   {"a", "A", "é", "", "10", "9"},
		"far":     {1, int64(2), 3.5, int64(3900000000000000000)},
	} {
		if err := db.CreateCollection(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := db.Collection(name).InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cuts := []string{"mode: full", "mode: chunked, chunk_by_key: _id, chunk_size: SIZE", "mode: chunked, chunk_count: SIZE"}
	document := func(ids ...string) (rows []string) {
		for _, id := range ids {
			rows = append(rows, id+`|{"_id":`+id+`}`)
		}
		return rows
	}
	runHazards(t, "type: mongo", at, []hazard{
		{"PLN-04 an empty collection", "table: nothing", cuts, nil},
		{"PLN-05 one document", "table: single", cuts, document("42")},
		{"PLN-06 ids around 0", "table: around", cuts, document(numbered(-3, 3)...)},
		{"PLN-03 ids with a gap", "table: far", cuts, []string{`1|{"_id":1}`, `2|{"_id":2}`, `{"$numberDouble":"3.5"}|{"_id":3.5}`, `3900000000000000000|{"_id":3900000000000000000}`}},
		{"PLN-11 ids of text", "table: words", cuts, []string{`a|{"_id":"a"}`, `A|{"_id":"A"}`, `é|{"_id":"é"}`, `|{"_id":""}`, `10|{"_id":"10"}`, `9|{"_id":"9"}`}},
	})
}
