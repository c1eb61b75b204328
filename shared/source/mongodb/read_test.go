package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

func mustURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// rowsOf reads a range, each row as _id|document, and what ended it.
func rowsOf(ctx context.Context, s *Source, spec source.ReadSpec) (rows []string, err error) {
	r, err := s.Read(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer r.Close(ctx)
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return rows, err
		}
		for i := range b.Rows {
			id := "∅"
			if !b.Columns[0].IsNull(i) {
				id = string(b.Columns[0].Slice(i))
			}
			rows = append(rows, id+"|"+string(b.Columns[1].Slice(i)))
		}
	}
}

// specOf reads a collection in the order of its key, if it has one.
func specOf(t testing.TB, s *Source, collection string) source.ReadSpec {
	t.Helper()
	table, err := s.Describe(t.Context(), source.Relation{Name: collection})
	if err != nil {
		t.Fatal(err)
	}
	spec := source.ReadSpec{Relation: table.Relation, Columns: table.Columns, ReadAt: table.ReadAt, Ordered: true, Unique: true}
	if len(table.Keys) > 0 {
		spec.Key = table.Keys[0].Columns
	} else {
		spec.Range.All = true
	}
	return spec
}

func mustRead(t testing.TB, s *Source, spec source.ReadSpec) []string {
	t.Helper()
	rows, err := rowsOf(t.Context(), s, spec)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return rows
}

// everyKind are ids of every type, in the server's order, and how they are
// delivered.
var everyKind = []struct {
	id   any
	text string
}{
	{bson.MinKey{}, `{"$minKey":1}`},
	{nil, "null"},
	{math.NaN(), `{"$numberDouble":"NaN"}`},
	{math.Inf(-1), `{"$numberDouble":"-Infinity"}`},
	{int64(math.MinInt64), "-9223372036854775808"},
	{int32(-1), "-1"},
	{0.0, `{"$numberDouble":"0.0"}`},
	{int64(1), "1"},
	{decimal("7.10"), `{"$numberDecimal":"7.10"}`},
	{int64(9007199254740993), "9007199254740993"},
	{math.Inf(1), `{"$numberDouble":"Infinity"}`},
	{"", ""},
	{"1", "1"},
	{"A", "A"},
	{"a'\"\\\x00{}$a", "a'\"\\\x00{}$a"},
	{"é", "é"},
	{bson.D{}, "{}"},
	{bson.D{{Key: "A", Value: "$b"}}, `{"A":"$b"}`},
	{bson.D{{Key: "a", Value: "x"}, {Key: "b", Value: int64(2)}}, `{"a":"x","b":{"$numberLong":"2"}}`},
	{bson.Binary{Subtype: 0, Data: []byte("ab")}, `{"$binary":{"base64":"YWI=","subType":"00"}}`},
	{bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, `{"$binary":{"base64":"MDEyMzQ1Njc4OWFiY2RlZg==","subType":"04"}}`},
	{bson.ObjectID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "000102030405060708090a0b"},
	{bson.ObjectID{255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, "ff0102030405060708090a0b"},
	{false, "false"},
	{true, "true"},
	{bson.DateTime(-1), `{"$date":{"$numberLong":"-1"}}`},
	{bson.DateTime(1796022565000), `{"$date":{"$numberLong":"1796022565000"}}`},
	{bson.Timestamp{T: 7, I: 1}, `{"$timestamp":{"t":7,"i":1}}`},
	{bson.MaxKey{}, `{"$maxKey":1}`},
}

func decimal(text string) bson.Decimal128 {
	d, err := bson.ParseDecimal128(text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestIDsOfEveryTypeComeOnceInTheServersOrder(t *testing.T) {
	f := newServer(t)
	var want []string
	for _, k := range slices.Backward(everyKind) {
		f.insert(t, "mixed", bson.D{{Key: "_id", Value: k.id}})
	}
	for _, k := range everyKind {
		want = append(want, k.text)
	}
	s := f.source(t)
	whole := specOf(t, s, "mixed")
	ids := func(spec source.ReadSpec) (ids []string) {
		for _, row := range mustRead(t, s, spec) {
			id, _, _ := strings.Cut(row, "|")
			ids = append(ids, id)
		}
		return ids
	}
	if got := ids(whole); !slices.Equal(got, want) {
		t.Fatalf("got %q\nwant %q", got, want)
	}
	points, err := s.SplitPoints(t.Context(), whole.Relation, whole.Key, nil, 100)
	if err != nil || len(points) < len(everyKind)/2 {
		t.Fatalf("%d split points, %v", len(points), err)
	}
	for n, k := range everyKind { // cut at each of them
		raw := valueOf(t, k.id)
		text, ok := keyOf(raw)
		if !ok {
			t.Fatalf("%s has no key", k.text)
		}
		before, after := whole, whole
		before.Range, after.Range = keyspace.Range{UpTo: keyspace.Key{text}}, keyspace.Range{After: keyspace.Key{text}}
		if got := ids(before); !slices.Equal(got, want[:n+1]) {
			t.Errorf("up to %s: %q", text, got)
		}
		if got := ids(after); !slices.Equal(got, want[n+1:]) {
			t.Errorf("after %s: %q", text, got)
		}
	}
	null := whole
	null.Range = keyspace.Range{Null: true}
	if got := ids(null); len(got) > 0 {
		t.Errorf("without an id: %q", got)
	}
}

// valueOf is a value as BSON.
func valueOf(t testing.TB, v any) bson.RawValue {
	t.Helper()
	return document(t, bson.D{{Key: "v", Value: v}}).Lookup("v")
}

func TestAnIDWithoutATextOfItsOwnIsNoCut(t *testing.T) {
	for _, tc := range []struct {
		name string
		id   bson.RawValue
	}{
		{"a NaN with bits of its own", bson.RawValue{Type: bson.TypeDouble, Value: []byte{2, 0, 0, 0, 0, 0, 0xf8, 0x7f}}},
		{"text that is not UTF-8", valueOf(t, "\xff")},
		{"a document that looks like a wrapper", valueOf(t, bson.D{{Key: "$oid", Value: "000102030405060708090a0b"}})},
		{"a document with one name twice", valueOf(t, bson.D{{Key: "a", Value: true}, {Key: "a", Value: true}})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if text, ok := keyOf(tc.id); ok {
				t.Errorf("it is cut at %s", text)
			}
		})
	}
}

// sent remembers the commands that a source sends.
type sent struct {
	mu       sync.Mutex
	commands []bson.Raw
}

func (s *sent) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.commands = append(s.commands, slices.Clone(e.Command))
	}}
}

// named are the commands of one name.
func (s *sent) named(name string) (all []bson.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.Index(0).Key() == name {
			all = append(all, c)
		}
	}
	return all
}

func TestTasksAskForOnePointInTime(t *testing.T) { // TMO-07
	f, watch := newServer(t), &sent{}
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 3}})
	f.monitor, f.timeout = watch.monitor(), 7
	plan, err := f.source(t).Describe(t.Context(), source.Relation{Name: "docs"})
	if err != nil || plan.Consistency != "snapshot@"+plan.ReadAt || len(plan.ReadAt) < 12 {
		t.Fatalf("%+v, %v", plan, err)
	}
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 4}}) // the server's time goes on
	watch.commands = nil
	for _, r := range []keyspace.Range{{UpTo: keyspace.Key{`{"$numberInt":"2"}`}}, {After: keyspace.Key{`{"$numberInt":"2"}`}}} {
		s := f.source(t)
		reader, err := s.Read(t.Context(), source.ReadSpec{Relation: plan.Relation, Columns: plan.Columns, Key: plan.Keys[0].Columns, Range: r, ReadAt: plan.ReadAt, BatchRows: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := reader.Position(); got != "cluster time "+plan.ReadAt {
			t.Errorf("position %q", got)
		}
	}
	at, _ := parseMoment(plan.ReadAt)
	for _, c := range watch.named("find") {
		concern := c.Lookup("readConcern").Document()
		if seconds, increment := concern.Lookup("atClusterTime").Timestamp(); concern.Lookup("level").StringValue() != "snapshot" || seconds != at.T || increment != at.I {
			t.Errorf("it reads with %s, not at %s", concern, plan.ReadAt)
		}
		for name, want := range map[string]string{"hint": `{"_id": {"$numberInt":"1"}}`, "sort": `{"_id": {"$numberInt":"1"}}`, "noCursorTimeout": "true", "maxTimeMS": `{"$numberLong":"7000"}`, "batchSize": `{"$numberInt":"1"}`} {
			if got := c.Lookup(name).String(); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	}
	if n := len(watch.named("find")); n != 2 {
		t.Errorf("%d reads", n)
	}
}

func TestWhatTheTasksSeeIsSaidAsItIs(t *testing.T) {
	for _, tc := range []struct {
		name        string
		fake        *fake
		mongo       exportconfig.Mongo
		consistency string
		level       string // of a read
		refused     bool
		keys        int
	}{
		{name: "a replica set has snapshots", fake: &fake{hello: replicaSet}, consistency: "snapshot@7.1", level: "snapshot", keys: 1},
		{name: "a sharded cluster has them, and an id can be there twice", fake: &fake{hello: router}, consistency: "snapshot@7.1", level: "snapshot"},
		{name: "a server of its own has none", fake: &fake{hello: standalone}, consistency: "read_committed", level: "majority", keys: 1},
		{name: "a capped collection has none", fake: &fake{hello: replicaSet, options: bson.D{{Key: "capped", Value: true}}}, consistency: "read_committed", level: "majority", keys: 1},
		{name: "a view is read by one task", fake: &fake{hello: replicaSet, kind: "view"}, consistency: "read_committed", level: "majority"},
		{name: "a time-series collection too", fake: &fake{hello: replicaSet, kind: "timeseries"}, consistency: "read_committed", level: "majority"},
		{name: "the config wants none", fake: &fake{hello: replicaSet}, mongo: exportconfig.Mongo{ReadConcern: "server"}, consistency: "read_committed", level: "majority", keys: 1},
		{name: "the config wants one of a view", fake: &fake{hello: replicaSet, kind: "view"}, mongo: exportconfig.Mongo{ReadConcern: "snapshot"}, consistency: "snapshot@7.1", level: "snapshot"},
		{name: "the config wants one where there is none", fake: &fake{hello: standalone}, mongo: exportconfig.Mongo{ReadConcern: "snapshot"}, refused: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := tc.fake.start(t)
			f.mongo = tc.mongo
			s := f.source(t)
			table, err := s.Describe(t.Context(), source.Relation{Name: "docs"})
			if tc.refused {
				sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_SOURCE_SNAPSHOT", "read_concern: server")
				return
			}
			if err != nil || table.Consistency != tc.consistency || len(table.Keys) != tc.keys || len(table.KeyColumns) != tc.keys {
				t.Fatalf("%+v, %v", table, err)
			}
			mustRead(t, s, source.ReadSpec{Relation: table.Relation, Columns: table.Columns, ReadAt: table.ReadAt, Range: keyspace.Range{All: true}})
			last := tc.fake.last()
			if got := last.Lookup("readConcern", "level").StringValue(); got != tc.level {
				t.Errorf("it reads with %s", last)
			}
			if _, err := last.LookupErr("hint"); (err == nil) != (table.Kind == "table") {
				t.Errorf("a %s is read with %s", table.Kind, last)
			}
		})
	}
}

func TestAnOldServerIsRefused(t *testing.T) {
	f := (&fake{hello: older}).start(t)
	_, err := f.connect(t, f.Address())
	sourcetest.WantRefusal(t, err, fault.Permanent, "LAPSTRAKE_SOURCE_VERSION", "5.0")
}

// document is one as BSON, which may be what no server should hold.
func document(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDocumentsThatCannotBeDeliveredAreRefusedByID(t *testing.T) {
	for _, tc := range []struct {
		name     string
		document bson.D
		code     fault.Code
		says     []string
	}{
		{"text that is not UTF-8", bson.D{{Key: "_id", Value: int32(7)}, {Key: "a", Value: bson.A{"x\xff"}}}, failure.Value, []string{`_id {"$numberInt":"7"}`, `field "a.0" has text that is not valid UTF-8`, "docs"}},
		{"an id that is not UTF-8", bson.D{{Key: "_id", Value: "\xff"}}, failure.Value, []string{"_id string 02000000ff00", "not valid UTF-8"}},
		{"one name twice", bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: 1}, {Key: "a", Value: 2}}, failure.Value, []string{`_id "k"`, `field "a" is there twice`}},
		{"the id twice", bson.D{{Key: "_id", Value: "k"}, {Key: "_id", Value: "l"}}, failure.Value, []string{`field "_id" is there twice`}},
		{"a document that looks like a date", bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: bson.D{{Key: "$date", Value: "x"}}}}, failure.Value, []string{`field "a.$date"`}},
		{"a value above the limit", bson.D{{Key: "_id", Value: "k"}, {Key: "a", Value: strings.Repeat("x", 1000)}}, failure.TooLarge, []string{`_id "k"`, "column document", "1000 bytes"}},
		{"an id above the limit", bson.D{{Key: "_id", Value: strings.Repeat("k", 1001)}}, failure.TooLarge, []string{"column _id", "kkk…"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := (&fake{hello: standalone, documents: []bson.Raw{document(t, bson.D{{Key: "_id", Value: int32(1)}}), document(t, tc.document)}}).start(t)
			s := f.source(t)
			spec := specOf(t, s, "docs")
			spec.MaxValueBytes = 1000
			rows, err := rowsOf(t.Context(), s, spec)
			sourcetest.WantRefusal(t, err, fault.Refused, tc.code, tc.says...)
			if len(rows) > 0 {
				t.Errorf("rows of the batch were handed out: %q", rows)
			}
			if rows := mustRead(t, (&fake{hello: standalone}).start(t).source(t), spec); len(rows) > 0 {
				t.Errorf("%q", rows)
			}
		})
	}
}

func TestValuesThatNoCalendarHasAreExact(t *testing.T) {
	d := bson.D{{Key: "_id", Value: bson.DateTime(math.MaxInt64)}, {Key: "least", Value: bson.DateTime(math.MinInt64)}, {Key: "later", Value: bson.DateTime(253402300800000)}, {Key: "last", Value: bson.DateTime(253402300799999)},
		{Key: "dec", Value: decimal("-0E-6176")}, {Key: "sym", Value: bson.Symbol("s")}, {Key: "undef", Value: bson.Undefined{}}}
	f := (&fake{hello: standalone, documents: []bson.Raw{document(t, d)}}).start(t)
	s := f.source(t)
	want := `{"$date":{"$numberLong":"9223372036854775807"}}|{"_id":{"$date":{"$numberLong":"9223372036854775807"}},"least":{"$date":{"$numberLong":"-9223372036854775808"}},` +
		`"later":{"$date":{"$numberLong":"253402300800000"}},"last":{"$date":"9999-12-31T23:59:59.999Z"},"dec":{"$numberDecimal":"-0E-6176"},"sym":{"$symbol":"s"},"undef":{"$undefined":true}}`
	if rows := mustRead(t, s, specOf(t, s, "docs")); !slices.Equal(rows, []string{want}) {
		t.Errorf("%s\nwant %s", rows, want)
	}
}

func TestADocumentOf16MegabytesIsExact(t *testing.T) {
	f := newServer(t)
	text := strings.Repeat("0123456789abcdef", 1<<20)[:16<<20-64]
	f.insert(t, "large", bson.D{{Key: "_id", Value: 1}, {Key: "t", Value: text}}, bson.D{{Key: "_id", Value: 2}})
	s := f.source(t)
	rows := mustRead(t, s, specOf(t, s, "large"))
	if len(rows) != 2 || rows[0] != `1|{"_id":1,"t":"`+text+`"}` || rows[1] != `2|{"_id":2}` {
		t.Errorf("%d rows, the first of %d bytes", len(rows), len(rows[0]))
	}
}

func TestAnswersOfTheServer(t *testing.T) {
	f := newServer(t)
	for i := range 5 {
		f.insert(t, "docs", bson.D{{Key: "_id", Value: i}})
	}
	for _, tc := range []struct {
		name  string
		data  bson.D
		class fault.Class
		code  fault.Code
		says  string
	}{
		{"the point in time is gone", bson.D{{Key: "failCommands", Value: bson.A{"find"}}, {Key: "errorCode", Value: 239}}, fault.Permanent, failure.Conflict, "minSnapshotHistoryWindowInSeconds"},
		{"the point in time goes while it is read", bson.D{{Key: "failCommands", Value: bson.A{"getMore"}}, {Key: "errorCode", Value: 239}}, fault.Permanent, failure.Conflict, "read_concern: server"},
		{"the cursor is gone", bson.D{{Key: "failCommands", Value: bson.A{"getMore"}}, {Key: "errorCode", Value: 43}}, fault.Retryable, failure.Interrupted, "docs"},
		{"the connection breaks", bson.D{{Key: "failCommands", Value: bson.A{"getMore"}}, {Key: "closeConnection", Value: true}}, fault.Retryable, failure.Unreachable, "docs"},
		{"it takes too long", bson.D{{Key: "failCommands", Value: bson.A{"getMore"}}, {Key: "errorCode", Value: 50}}, fault.Permanent, failure.Timeout, "statement_timeout_s"},
		{"the user may not read", bson.D{{Key: "failCommands", Value: bson.A{"find"}}, {Key: "errorCode", Value: 13}}, fault.Permanent, failure.Permission, "role read"},
		{"nobody knows the answer", bson.D{{Key: "failCommands", Value: bson.A{"find"}}, {Key: "errorCode", Value: 4711}}, fault.Retryable, failure.Server, "docs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := f.source(t)
			spec := specOf(t, s, "docs")
			spec.BatchRows = 2
			f.fail(t, 1, tc.data)
			rows, err := rowsOf(t.Context(), s, spec)
			sourcetest.WantRefusal(t, err, tc.class, tc.code, tc.says)
			if len(rows) == 5 {
				t.Error("all rows came")
			}
			if rows := mustRead(t, s, spec); len(rows) != 5 {
				t.Errorf("%d rows when it is read again", len(rows))
			}
		})
	}
}

func TestAConnectionThatDiedWhileNobodyUsedItIsReplaced(t *testing.T) {
	f := newServer(t)
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 1}})
	s := f.source(t)
	spec := specOf(t, s, "docs")
	f.fail(t, 1, bson.D{{Key: "failCommands", Value: bson.A{"ping"}}, {Key: "closeConnection", Value: true}})
	if rows := mustRead(t, s, spec); len(rows) != 1 {
		t.Errorf("%q", rows)
	}
}

func TestSplitPoints(t *testing.T) {
	objectIDs := func(i int) any { return bson.ObjectID{byte(i), 0, 0, 0, 1} }
	for _, tc := range []struct {
		name   string
		id     func(i int) any
		n      int
		sample bool // the server draws
		least  int  // points of 8 ranges
	}{
		{"drawn integers", func(i int) any { return i }, 300, true, 7},
		{"drawn from few", func(i int) any { return i }, 3, true, 3},
		{"drawn of two kinds", func(i int) any { return []any{i, fmt.Sprint(i)}[i%2] }, 300, true, 7},
		{"integers between their ends", func(i int) any { return int64(i) }, 200, false, 7},
		{"negative integers of two widths", func(i int) any { return []any{int32(-i), int64(i)}[i%2] }, 200, false, 7},
		{"ObjectIds between their ends", objectIDs, 200, false, 7},
		{"texts between their ends", func(i int) any { return fmt.Sprint(i) }, 20, false, 0},
		{"ends of two kinds", func(i int) any { return []any{i, objectIDs(i)}[i%2] }, 20, false, 0},
		{"one id", func(i int) any { return i }, 1, false, 0},
		{"none", nil, 0, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newServer(t)
			f.command(t, bson.D{{Key: "create", Value: "docs"}})
			var documents []any
			for i := range tc.n {
				documents = append(documents, bson.D{{Key: "_id", Value: tc.id(i)}})
			}
			if len(documents) > 0 {
				f.insert(t, "docs", documents...)
			}
			s := f.source(t)
			spec := specOf(t, s, "docs")
			if !tc.sample {
				f.fail(t, 1, bson.D{{Key: "failCommands", Value: bson.A{"aggregate"}}, {Key: "errorCode", Value: 40324}})
			}
			points, err := s.SplitPoints(t.Context(), spec.Relation, spec.Key, nil, 8)
			if err != nil || len(points) < tc.least || len(points) > 7 || tc.least == 0 && len(points) > 0 {
				t.Fatalf("%d points %v, %v", len(points), points, err)
			}
			rows, most, after := 0, 0, keyspace.Key(nil)
			for _, upTo := range append(points, nil) {
				part := spec
				part.Range = keyspace.Range{After: after, UpTo: upTo}
				n := len(mustRead(t, s, part))
				rows, most, after = rows+n, max(most, n), upTo
			}
			if rows != tc.n {
				t.Errorf("%d of %d rows in the ranges", rows, tc.n)
			}
			if tc.least == 7 && most > tc.n/2 {
				t.Errorf("a range has %d of %d rows", most, tc.n)
			}
		})
	}
}

func TestAnotherFailureOfTheSampleIsOne(t *testing.T) {
	f := newServer(t)
	f.insert(t, "docs", bson.D{{Key: "_id", Value: 1}})
	s := f.source(t)
	f.fail(t, 1, bson.D{{Key: "failCommands", Value: bson.A{"aggregate"}}, {Key: "errorCode", Value: 13}})
	_, err := s.SplitPoints(t.Context(), source.Relation{Name: "docs"}, []keyspace.Column{key()}, nil, 8)
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Permission)
}

func TestMomentsAreReadBack(t *testing.T) {
	for _, at := range []bson.Timestamp{{T: 1, I: 2}, {T: math.MaxUint32, I: math.MaxUint32}} {
		if got, ok := parseMoment(moment(at)); !ok || got != at {
			t.Errorf("%v reads back as %v", at, got)
		}
	}
	for _, text := range []string{"", "1", "1.", ".1", "x.1", "1.x", "-1.1", "4294967296.1"} {
		if _, ok := parseMoment(text); ok {
			t.Errorf("%q is a moment", text)
		}
	}
}

func TestThereIsNoCutAtTheEndOfTheRange(t *testing.T) {
	f := (&fake{hello: standalone, documents: []bson.Raw{document(t, bson.D{{Key: "_id", Value: int32(7)}})}}).start(t)
	s := f.source(t)
	spec := specOf(t, s, "docs")
	for upTo, want := range map[string]int{`{"$numberInt":"7"}`: 0, `{"$numberInt":"8"}`: 1} {
		spec.Range.UpTo = keyspace.Key{upTo}
		r, err := s.Read(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows, at := r.Cut(); rows != want || (at == nil) != (want == 0) {
			t.Errorf("up to %s: a cut after %d rows at %v: what is left has no row", upTo, rows, at)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
