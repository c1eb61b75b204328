package contract

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// The wire form of a record: readers that are not ours depend on it.
const recordText = `{"record_version":2,"run_id":"orders_20261129T120000.000","export":"orders","generation":3,` +
	`"plan":{"key":"_lapstrake/orders/runs/orders_20261129T120000.000/plan.json","fingerprint":"xxh3:2d06800538d394c2"},` +
	`"key":[{"name":"a","native":"bigint"},{"name":"b<","native":"text","nullable":true}],"tasks":[` +
	`{"task":"000000","predicate":{"kind":"key_range","upper":{"key":["7","x&y"],"inclusive":true}},"rows":2,"parts":["part-000001.csv"],"read_position":"0/16B3748"},` +
	`{"task":"000000.s01","predicate":{"kind":"key_range","lower":{"key":["7","x&y"],"inclusive":false}},"split_of":"000000","rows":0,"parts":[]},` +
	`{"task":"000001","predicate":{"kind":"null_key"},"superseded_by":"000001.r1","rows":0,"parts":[]},` +
	`{"task":"000001.r1","predicate":{"kind":"null_key"},"repair_of":"000001","rows":0,"parts":[]}]}` + "\n"

func record() RunRecord {
	cut := keyspace.Key{"7", "x&y"}
	return RunRecord{
		RecordVersion: RecordVersion, RunID: "orders_20261129T120000.000", Export: "orders", Generation: 3,
		Plan: RunRecordRef{Key: PlanKey("orders", "orders_20261129T120000.000"), Fingerprint: FingerprintOf(nil)},
		Key:  []keyspace.Column{{Name: "a", Native: "bigint"}, {Name: "b<", Native: "text", Nullable: true}},
		Tasks: []TaskRecord{
			{Task: "000000", Predicate: PredicateOf(keyspace.Range{UpTo: cut}), Rows: 2, Parts: []string{"part-000001.csv"}, ReadPosition: "0/16B3748"},
			{Task: "000000.s01", Predicate: PredicateOf(keyspace.Range{After: cut}), SplitOf: "000000", Parts: []string{}},
			{Task: "000001", Predicate: PredicateOf(keyspace.Range{Null: true}), SupersededBy: "000001.r1", Parts: []string{}},
			{Task: "000001.r1", Predicate: PredicateOf(keyspace.Range{Null: true}), RepairOf: "000001", Parts: []string{}},
		},
	}
}

func TestRunRecordHasItsWireForm(t *testing.T) {
	body, err := record().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != recordText {
		t.Fatalf("got  %s\nwant %s", body, recordText)
	}
	got, err := DecodeRunRecord(body)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, record()) {
		t.Fatalf("read back as %+v", got)
	}
	if !got.Tasks[0].Live() || got.Tasks[2].Live() {
		t.Error("a task counts until it is superseded")
	}
}

func TestRunRecordIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		want           fault.Code
	}{
		{"of the version before", `"record_version":2`, `"record_version":1`, "LAPSTRAKE_DEST_RECORD_VERSION_UNKNOWN"},
		{"of a later version", `"record_version":2`, `"record_version":3`, "LAPSTRAKE_DEST_RECORD_VERSION_UNKNOWN"},
		{"cut off", `"tasks":[`, `"tasks":`, "LAPSTRAKE_DEST_RECORD_UNREADABLE"},
		{"with a field that stands twice", `"rows":2`, `"rows":2,"rows":3`, "LAPSTRAKE_DEST_RECORD_UNREADABLE"},
		{"with a predicate of an unknown kind", `"null_key"`, `"modulo"`, "LAPSTRAKE_DEST_RECORD_UNREADABLE"},
		{"with a bound of NULL", `{"kind":"null_key"}`, `{"kind":"null_key","upper":{"key":["1"],"inclusive":true}}`, "LAPSTRAKE_DEST_RECORD_UNREADABLE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := strings.Replace(recordText, tc.old, tc.new, 1)
			if body == recordText {
				t.Fatal("nothing was changed")
			}
			if _, err := DecodeRunRecord([]byte(body)); fault.CodeOf(err) != tc.want {
				t.Fatalf("error %v, want %s", err, tc.want)
			}
		})
	}
}

// A record that revokes its generation has no tasks, and is read whatever its
// version.
func TestRunRecordOfARevokedGeneration(t *testing.T) {
	r, err := DecodeRunRecord([]byte(`{"record_version":1,"run_id":"r","export":"e","generation":1,"revoked_by":2}`))
	if err != nil || r.RevokedBy != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestPredicateOfARange(t *testing.T) {
	k := keyspace.Key{"1"}
	for _, tc := range []struct {
		name string
		r    keyspace.Range
		want Predicate
	}{
		{"all rows", keyspace.Range{All: true}, Predicate{Kind: AllRows}},
		{"NULL keys", keyspace.Range{Null: true}, Predicate{Kind: NullKey}},
		{"every key", keyspace.Range{}, Predicate{Kind: KeyRange}},
		{"behind a key", keyspace.Range{After: k}, Predicate{Kind: KeyRange, Lower: &Bound{Key: k}}},
		{"up to a key", keyspace.Range{UpTo: k}, Predicate{Kind: KeyRange, Upper: &Bound{Key: k, Inclusive: true}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := PredicateOf(tc.r); !reflect.DeepEqual(got, tc.want) {
				t.Fatalf("%+v, want %+v", got, tc.want)
			}
		})
	}
}
