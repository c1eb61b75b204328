package partfiletest

import (
	"fmt"
	"math/rand/v2"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Table is columns with rows in batches.
type Table struct {
	Name    string
	Columns []rowtype.Column
	Batches []*rowbatch.Batch
	Rows    int
}

// Tables returns the tables that writers are measured with: Lineitem, events
// with documents, identifiers and lists, and a narrow one of two numbers and a
// time.
func Tables(rows, batchRows int) []Table {
	columns, batches := Lineitem(rows, batchRows)
	return []Table{
		{"lineitem", columns, batches, rows},
		events(rows/4, batchRows),
		narrow(4*rows, batchRows),
	}
}

func fill(name string, columns []rowtype.Column, rows, batchRows int, row func(c []rowbatch.Vector, at int)) Table {
	t := Table{Name: name, Columns: columns, Rows: rows}
	for at := 0; at < rows; at += batchRows {
		b := rowbatch.New(columns)
		for b.Rows < min(batchRows, rows-at) {
			row(b.Columns, at+b.Rows)
			b.Rows++
		}
		t.Batches = append(t.Batches, b)
	}
	return t
}

func events(rows, batchRows int) Table {
	text, amount := rowtype.Type{Kind: rowtype.Text}, rowtype.Type{Kind: rowtype.Decimal, Precision: 38, Scale: 9}
	columns := []rowtype.Column{
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}},
		{Name: "uid", Type: rowtype.Type{Kind: rowtype.UUID}},
		{Name: "at", Type: rowtype.Type{Kind: rowtype.Timestamp, UTC: true}},
		{Name: "kind", Type: text},
		{Name: "payload", Type: rowtype.Type{Kind: rowtype.JSON}},
		{Name: "amount", Type: amount},
		{Name: "score", Type: rowtype.Type{Kind: rowtype.Float64}},
		{Name: "tags", Type: rowtype.Type{Kind: rowtype.List, Elem: &text}},
	}
	r := rand.New(rand.NewPCG(3, 4))
	kinds := []string{"view", "click", "purchase", "refund", "login", "logout"}
	return fill("events", columns, rows, batchRows, func(c []rowbatch.Vector, at int) {
		c[0].AppendInt64(int64(at))
		var id [16]byte
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		c[1].AppendBytes(id[:])
		c[2].AppendInt64(1_790_000_000_000_000 + int64(at)*1_700 + r.Int64N(5_000))
		kind := kinds[r.IntN(len(kinds))]
		c[3].AppendBytes([]byte(kind))
		c[4].AppendBytes(fmt.Appendf(nil, `{"kind": %q, "user": {"id": %d, "plan": "team", "country": "DE"}, "page": "/products/%d/details", "ms": %d, "flags": [%t, %t], "referrer": "https://example.com/search?q=%x", "agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"}`,
			kind, r.IntN(90_000), r.IntN(4_000), r.IntN(30_000), r.IntN(2) == 0, r.IntN(9) == 0, r.Uint64()))
		c[5].AppendBytes(rowbatchtest.Decimal(amount, fmt.Sprint(r.Int64N(1_000_000_000_000))))
		if r.IntN(5) == 0 {
			c[6].AppendNull()
		} else {
			c[6].AppendFloat64(r.NormFloat64())
		}
		for range r.IntN(4) {
			c[7].Items.AppendBytes(fmt.Appendf(nil, "tag-%d", r.IntN(500)))
		}
		c[7].EndList()
	})
}

func narrow(rows, batchRows int) Table {
	columns := []rowtype.Column{
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}},
		{Name: "value", Type: rowtype.Type{Kind: rowtype.Int32}},
		{Name: "at", Type: rowtype.Type{Kind: rowtype.Timestamp}},
	}
	r := rand.New(rand.NewPCG(5, 6))
	return fill("narrow", columns, rows, batchRows, func(c []rowbatch.Vector, at int) {
		c[0].AppendInt64(int64(at))
		c[1].AppendInt32(int32(r.IntN(1_000_000)))
		c[2].AppendInt64(1_790_000_000_000_000 + int64(at)*1_000_000)
	})
}
