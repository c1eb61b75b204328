package mongodb

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

func TestDriver(t *testing.T) { sourcetest.RunDocuments(t, newServer(t)) }

// server is the test server, with a database of its own for each test.
type server struct {
	url   *url.URL
	db    *mongo.Database
	names map[string][]string // columns of the collections that the suite makes

	mongo   exportconfig.Mongo
	timeout int
	monitor *event.CommandMonitor
}

func newServer(t testing.TB) *server {
	t.Helper()
	u, err := url.Parse(testenv.Server(t, testenv.MongoDBURL))
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(u.String()))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.NewReplacer("/", "_", ".", "_").Replace(t.Name())
	u.Path = "/" + name[:min(len(name), 60)]
	query := u.Query()
	query.Set("appName", "lapstrake "+u.Path[1:]) // whom a fail point is for
	u.RawQuery = query.Encode()
	s := &server{url: u, db: client.Database(u.Path[1:]), names: map[string][]string{}}
	ctx := context.WithoutCancel(t.Context())
	if err := s.db.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.db.Drop(ctx); err != nil {
			t.Error(err)
		}
		_ = client.Disconnect(ctx)
	})
	return s
}

// command runs one as the administrator of the test.
func (s *server) command(t testing.TB, command bson.D) {
	t.Helper()
	if err := s.db.RunCommand(t.Context(), command).Err(); err != nil {
		t.Fatalf("%v in %v", err, command)
	}
}

// insert adds documents to a collection.
func (s *server) insert(t testing.TB, collection string, documents ...any) {
	t.Helper()
	if _, err := s.db.Collection(collection).InsertMany(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
}

// fail makes the server answer the commands of this test with an error, or close
// its connections.
func (s *server) fail(t testing.TB, times int, data bson.D) {
	t.Helper()
	admin := s.db.Client().Database("admin")
	if err := admin.RunCommand(t.Context(), bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: bson.D{{Key: "times", Value: times}}}, {Key: "data", Value: append(data, bson.E{Key: "appName", Value: s.url.Query().Get("appName")})}}).Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.RunCommand(context.WithoutCancel(t.Context()), bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: "off"}}).Err(); err != nil {
			t.Error(err)
		}
	})
}

func (s *server) Address() string { return s.url.Host }

func (s *server) Open(t *testing.T, via string) source.Source {
	t.Helper()
	src, err := s.connect(t, via)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// connect makes a source over an address.
func (s *server) connect(t testing.TB, via string) (*Source, error) {
	t.Helper()
	u := *s.url
	u.Host = via
	cfg := exportconfig.Source{Name: "default", Type: Engine, Inline: exportconfig.InlineSecret{URL: u.String()}, Mongo: s.mongo, StatementTimeoutSeconds: s.timeout}
	src := &Source{session: session{cfg: cfg, monitor: s.monitor}}
	return src, src.session.connect(t.Context())
}

// source opens a source that the test's end closes.
func (s *server) source(t testing.TB) *Source {
	t.Helper()
	src, err := s.connect(t, s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close(context.WithoutCancel(t.Context())) })
	return src
}

func (s *server) Create(t *testing.T, table sourcetest.Table) source.Relation {
	t.Helper()
	if err := s.db.Collection(table.Name).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.command(t, bson.D{{Key: "create", Value: table.Name}})
	names := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		if names[i] = c.Name; len(table.Primary) == 1 && c.Name == table.Primary[0] {
			names[i] = idColumn
		}
	}
	s.names[table.Name] = names
	return source.Relation{Name: table.Name}
}

func (s *server) Insert(t *testing.T, rel source.Relation, rows [][]any) {
	t.Helper()
	var documents []any
	for _, row := range rows {
		d := bson.D{}
		for i, v := range row {
			switch age := v.(type) {
			case sourcetest.Age:
				t.Fatalf("no column has an age, not %s", time.Duration(age))
			}
			d = append(d, bson.E{Key: s.names[rel.Name][i], Value: v})
		}
		documents = append(documents, d)
	}
	if len(documents) > 0 {
		s.insert(t, rel.Name, documents...)
	}
}

func (s *server) Settle(*testing.T, source.Relation) {}

func (s *server) Retype(t *testing.T, rel source.Relation, column string) {
	t.Fatalf("column %s of %s has no type", column, rel.Name)
}
