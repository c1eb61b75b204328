// Package rowbatchtest makes batches for tests. Layer: leaf.
package rowbatchtest

import (
	"crypto/md5"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// UpstreamColumns returns the columns of the table that the upstream exported
// for its sample (contract/testdata/upstream-sample), with the metadata of its
// files.
func UpstreamColumns() []rowtype.Column {
	text := rowtype.Type{Kind: rowtype.Text}
	return []rowtype.Column{
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "int8", Fidelity: "exact"},
		{Name: "customer", Type: text, Native: "text", Fidelity: "exact"},
		{Name: "amount", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 18, Scale: 2}, Native: "numeric", Fidelity: "exact"},
		{Name: "created_at", Type: rowtype.Type{Kind: rowtype.Timestamp, UTC: true}, Native: "timestamptz", Fidelity: "exact"},
		{Name: "tags", Type: rowtype.Type{Kind: rowtype.List, Elem: &text}, Native: "_text", Fidelity: "compatible"},
		{Name: "note", Type: rowtype.Type{Kind: rowtype.JSON}, Native: "jsonb", Fidelity: "logical_string"},
		{Name: "uid", Type: rowtype.Type{Kind: rowtype.UUID}, Native: "uuid", Fidelity: "exact"},
		{Name: "flag", Type: rowtype.Type{Kind: rowtype.Bool}, Native: "bool", Fidelity: "exact"},
		{Name: "d", Type: rowtype.Type{Kind: rowtype.Date}, Native: "date", Fidelity: "exact"},
		{Name: "updated_at", Type: rowtype.Type{Kind: rowtype.Timestamp}, Native: "timestamp", Fidelity: "exact"},
	}
}

// UpstreamRows returns the rows of that table with ids from first to last, as
// its source.sql makes them: 1 to 2500, and 2501 to 2600 that came later.
func UpstreamRows(first, last int) *rowbatch.Batch {
	const day, newYear, february, march = 86_400_000_000, 20_454, 20_485, 20_513
	b := rowbatch.New(UpstreamColumns())
	c := b.Columns
	for g := first; g <= last; g++ {
		b.Rows++
		c[0].AppendInt64(int64(g))
		if g > 2500 {
			c[1].AppendBytes([]byte("late"))
			c[2].AppendBytes(Decimal(c[2].Type, "100"))
			c[3].AppendInt64(march * day)
			for i := 4; i < 9; i++ {
				c[i].AppendNull()
			}
			c[9].AppendInt64(february*day + int64(g)*1_000_000)
			continue
		}
		if g%7 == 0 {
			c[1].AppendNull()
		} else {
			c[1].AppendBytes(fmt.Appendf(nil, "cust-%d", g))
		}
		c[2].AppendBytes(Decimal(c[2].Type, fmt.Sprint(137*g)))
		c[3].AppendInt64(newYear*day + int64(g)*60_000_000)
		c[4].Items.AppendBytes([]byte("a"))
		c[4].Items.AppendNull()
		c[4].Items.AppendBytes(fmt.Appendf(nil, "x%d", g))
		c[4].EndList()
		c[5].AppendBytes(fmt.Appendf(nil, `{"k": %d}`, g))
		id := md5.Sum(fmt.Append(nil, g))
		c[6].AppendBytes(id[:])
		c[7].AppendBool(g%2 == 0)
		c[8].AppendInt32(int32(newYear + g%30))
		c[9].AppendInt64(newYear*day + int64(g)*1_000_000)
	}
	return b
}

// Select returns the columns of b with these indexes; they share its values.
func Select(b *rowbatch.Batch, columns ...int) *rowbatch.Batch {
	out := &rowbatch.Batch{Rows: b.Rows}
	for _, i := range columns {
		out.Columns = append(out.Columns, b.Columns[i])
	}
	return out
}
