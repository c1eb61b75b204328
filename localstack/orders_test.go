package localstack

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/verify"
)

// ordersTable has one column of each kind that loses something easily: large
// integers, exact decimals, microseconds, bytes, floats, NULL.
const ordersTable = `create table %[1]s.orders (
	id bigint primary key, note text, price numeric(20, 4), at timestamptz, paid boolean, raw bytea, ratio double precision, day date);
insert into %[1]s.orders
select i, case when i %% 7 = 0 then null else 'order ' || i || ' Ünïcødé' end, (i * 1234567)::numeric / 10000,
	timestamptz '2026-01-01 00:00:00.000001+00' + i * interval '1 second', i %% 3 = 0, decode(lpad(to_hex(i), 16, '0'), 'hex'),
	i / 3.0::double precision, date '2026-01-01' + (i %% 400)::int
from generate_series(1::bigint, %[2]d) i;
analyze %[1]s.orders`

// ordersText renders a row as the reader below does.
const ordersText = `select id, concat_ws('|', id, coalesce(note, 'NULL'), price, (extract(epoch from at) * 1000000)::bigint, paid,
	encode(raw, 'hex'), ratio, day - date '1970-01-01') from %s.%s`

func (w *world) makeOrders(rows int) {
	w.t.Helper()
	w.exec(fmt.Sprintf(ordersTable, w.schema, rows))
}

// source reads the rows of a table like ordersTable as text, by id.
func (w *world) source(table string) map[int64]string {
	w.t.Helper()
	rows, err := w.db.Query(w.t.Context(), fmt.Sprintf(ordersText, w.schema, table))
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	all := make(map[int64]string)
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			w.t.Fatal(err)
		}
		all[id] = text
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// manifest reads the published manifest of a prefix, whose marker must be its
// own.
func (w *world) manifest(prefix string) contract.Manifest {
	w.t.Helper()
	store := w.store(prefix)
	body, _, err := store.Get(w.t.Context(), contract.ManifestName, 64<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	marker, _, err := store.Get(w.t.Context(), contract.SuccessName, 1<<10)
	if err != nil {
		w.t.Fatal(err)
	}
	if want := string(contract.FingerprintOf(body)); strings.TrimSpace(string(marker)) != want {
		w.t.Fatalf("the marker says %q, the manifest is %s", marker, want)
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// published reads what the manifest of a prefix lists, as a loader does: the
// rows as text, each once.
func (w *world) published(prefix string) map[int64]string {
	w.t.Helper()
	store, m := w.store(prefix), w.manifest(prefix)
	all := make(map[int64]string)
	for _, part := range m.Parts {
		body, _, err := store.Get(w.t.Context(), part.Path, 256<<20)
		if err != nil {
			w.t.Fatal(err)
		}
		if got := contract.FingerprintOf(body); got != part.ContentFingerprint {
			w.t.Errorf("%s is %s, the manifest says %s", part.Path, got, part.ContentFingerprint)
		}
		w.readPart(part.Path, body, all)
	}
	if int64(len(all)) != m.RowCount {
		w.t.Errorf("%d rows were read, the manifest counts %d", len(all), m.RowCount)
	}
	return all
}

func (w *world) readPart(name string, body []byte, into map[int64]string) {
	w.t.Helper()
	table, err := pqarrow.ReadTable(w.t.Context(), bytes.NewReader(body), parquet.NewReaderProperties(memory.DefaultAllocator), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	defer table.Release()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	for batches.Next() {
		batch := batches.RecordBatch()
		ids := batch.Column(0).(*array.Int64)
		for row := range int(batch.NumRows()) {
			cells := make([]string, batch.NumCols())
			for c := range cells {
				cells[c] = cell(w, batch.Column(c), row)
			}
			if _, twice := into[ids.Value(row)]; twice {
				w.t.Errorf("%s: row %d is published twice", name, ids.Value(row))
			}
			into[ids.Value(row)] = strings.Join(cells, "|")
		}
	}
}

func cell(w *world, column arrow.Array, row int) string {
	if column.IsNull(row) {
		return "NULL"
	}
	switch c := column.(type) {
	case *array.Int64:
		return strconv.FormatInt(c.Value(row), 10)
	case *array.String:
		return c.Value(row)
	case *array.Decimal128:
		return c.Value(row).ToString(c.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Timestamp:
		if unit := c.DataType().(*arrow.TimestampType); unit.Unit != arrow.Microsecond || unit.TimeZone != "UTC" {
			w.t.Errorf("timestamps are %v", unit)
		}
		return strconv.FormatInt(int64(c.Value(row)), 10)
	case *array.Boolean:
		return strconv.FormatBool(c.Value(row))[:1]
	case *array.Binary:
		return hex.EncodeToString(c.Value(row))
	case *array.Float64:
		return strconv.FormatFloat(c.Value(row), 'g', -1, 64)
	case *array.Date32:
		return strconv.Itoa(int(c.Value(row)))
	}
	w.t.Fatalf("a column of type %v is not expected", column.DataType())
	return ""
}

// wantPublished compares the prefix with the orders, row by row.
func (w *world) wantPublished(prefix string) {
	w.t.Helper()
	w.wantPublishedAs(prefix, "orders")
}

// wantPublishedAs compares the prefix with a table like that of the orders.
func (w *world) wantPublishedAs(prefix, table string) {
	w.t.Helper()
	want, got := w.source(table), w.published(prefix)
	shown := 0
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] && shown < 5 {
			w.t.Errorf("row %d is published as %q, the source has %q", id, got[id], want[id])
			shown++
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("%d rows are published, the source has %d", len(got), len(want))
	}
}

// verdict waits for the validator's one verdict on a run, and returns it.
func (w *world) verdict(prefix string, run contract.RunID) verify.Document {
	w.t.Helper()
	w.eventually("the verdict on run "+string(run), func() (bool, error) { return len(w.verdicts(prefix, run)) > 0, nil })
	found := w.verdicts(prefix, run)
	if len(found) != 1 {
		w.t.Fatalf("run %s has the verdicts %v, want one", run, found)
	}
	body, _, err := w.store("").Get(w.t.Context(), found[0], verify.MaxDocumentBytes)
	if err != nil {
		w.t.Fatal(err)
	}
	doc, err := verify.DecodeDocument(body)
	if err != nil {
		w.t.Fatal(err)
	}
	return doc
}
