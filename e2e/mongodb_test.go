package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// mongoDatabase makes a database on the server, and drops it when the test
// ends.
func mongoDatabase(t *testing.T) (at string, db *mongo.Database) {
	t.Helper()
	u, err := url.Parse(testenv.Server(t, testenv.MongoDBURL))
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(u.String()))
	if err != nil {
		t.Fatal(err)
	}
	db = client.Database("e2e_" + strings.ToLower(rand.Text()[:12]))
	t.Cleanup(func() {
		if err := db.Drop(context.Background()); err != nil {
			t.Error(err)
		}
		_ = client.Disconnect(context.Background())
	})
	u.Path = "/" + db.Name()
	return u.String(), db
}

// mongoDocuments are documents with ids of several types, each with the text of
// its id.
func mongoDocuments(n int) (documents []any, ids []string) {
	add := func(id any, text string, fields ...bson.E) {
		documents = append(documents, append(bson.D{{Key: "_id", Value: id}}, fields...))
		ids = append(ids, text)
	}
	dec, _ := bson.ParseDecimal128("1.10")
	value := func(i int) any {
		return []any{i, int64(i) << 40, float64(i), float64(i) / 7, fmt.Sprintf("text, \"%d\"\n\x00é\u2028", i), nil, true, bson.DateTime(int64(i) * 1234567891), dec, math.Inf(-1), math.NaN(),
			bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, bson.Timestamp{T: uint32(i), I: 1}, bson.Regex{Pattern: "a/b", Options: "i"}, bson.A{i, bson.D{}, bson.A{}}, bson.D{{Key: "b", Value: i}, {Key: "a", Value: "$x"}}, bson.MinKey{},
			bson.MaxKey{}, bson.JavaScript("f(\"a\")"), bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "i", Value: int64(i)}}}}[i%20]
	}
	for i := range n {
		fields := []bson.E{{Key: "z", Value: value(i)}, {Key: "a", Value: value(i / 20)}}
		switch i % 4 {
		case 0:
			id := bson.ObjectID{byte(i), byte(i >> 8), 3: 7}
			add(id, id.Hex(), fields...)
		case 1:
			add(int32(-i), fmt.Sprint(-i), fields...)
		case 2:
			add(int64(i)<<33, fmt.Sprint(int64(i)<<33), fields...)
		case 3:
			add(fmt.Sprintf("key '%d\"", i), fmt.Sprintf("key '%d\"", i), fields...)
		}
	}
	add(nil, "null")
	add(true, "true")
	add(0.5, `{"$numberDouble":"0.5"}`)
	add(bson.D{{Key: "shop", Value: "a"}, {Key: "no", Value: int32(1)}}, `{"shop":"a","no":{"$numberInt":"1"}}`)
	return documents, ids
}

func TestEveryDocumentOfMongoDBArrives(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	at, db := mongoDatabase(t)
	documents, ids := mongoDocuments(400)
	if _, err := db.Collection("docs").InsertMany(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	columns := []column{{name: "_id"}, {name: "document"}}
	cuts := []sourceCut{
		{"full", "mode: full", 1},
		{"ranges of the id", "mode: chunked, chunk_by_key: _id, chunk_count: 7", 7},
		{"as the planner cuts it", "mode: chunked, chunk_size: 50", 4},
	}
	for _, flavour := range []string{"relaxed", "canonical"} {
		var want []string
		for i, d := range documents {
			text, err := bson.MarshalExtJSON(d, flavour == "canonical", false)
			if err != nil {
				t.Fatal(err)
			}
			row, err := json.Marshal([]string{ids[i], string(text)})
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(row))
		}
		want = normalized(t, want, nil)
		d := newDesk(t)
		d.env["DATABASE_URL"] = at
		source := "{ type: mongo, url_env: DATABASE_URL, mongo: { json: " + flavour + " } }"
		runCuts(t, d, flavour+", ", source, "table: docs", cuts, []string{"parquet", "csv"}, func(t *testing.T, of map[string]publication) {
			p := of["parquet"]
			if x := p.manifest.Source.Extraction; p.manifest.Source.Engine != "mongo" || x == nil || !strings.HasPrefix(x.Consistency, "snapshot@") {
				t.Errorf("the source is %+v: what its tasks saw is not said", p.manifest.Source)
			}
			sameRows(t, want, normalized(t, p.rows(t, "pyarrow", namesOf(columns)), nil))
			sameRows(t, want, normalized(t, p.rows(t, "duckdb", namesOf(columns)), nil))
			sameRows(t, want, normalized(t, of["csv"].rows(t, "csv", namesOf(columns)), columns))
		})
	}
}

func TestTheExampleOfMongoDBRuns(t *testing.T) {
	at, db := mongoDatabase(t)
	var documents []any
	for i := range 500 {
		documents = append(documents, bson.D{{Key: "note", Value: fmt.Sprintf("order %d", i)}})
	}
	if _, err := db.Collection("orders").InsertMany(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	body, err := os.ReadFile("../examples/mongodb/rivet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "rivet.yaml", string(body))
	d.must(t, "run")
	if p := published(t, inFolder(t, filepath.Join(d.dir, "exports/orders"))); p.manifest.RowCount != 500 {
		t.Errorf("%d of 500 rows", p.manifest.RowCount)
	}
	o := d.must(t, "prove", "exports/orders/", "--deep", "--json")
	if p := proofOf(t, o).Exports[0]; !p.Proven || p.Runs[0].Rows != 500 || p.Runs[0].Reads != p.Runs[0].Tasks {
		t.Error(o)
	}
}
