package partfiletest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Lineitem returns the columns of the table that decision support benchmarks
// are about, and rows like its own in batches of batchRows.
func Lineitem(rows, batchRows int) ([]rowtype.Column, []*rowbatch.Batch) {
	column := func(name string, t rowtype.Type) rowtype.Column {
		return rowtype.Column{Name: name, Type: t, Native: t.String(), Fidelity: "exact"}
	}
	number, small, text := rowtype.Type{Kind: rowtype.Int64}, rowtype.Type{Kind: rowtype.Int32}, rowtype.Type{Kind: rowtype.Text}
	money, date := rowtype.Type{Kind: rowtype.Decimal, Precision: 15, Scale: 2}, rowtype.Type{Kind: rowtype.Date}
	columns := []rowtype.Column{
		column("l_orderkey", number), column("l_partkey", number), column("l_suppkey", number), column("l_linenumber", small),
		column("l_quantity", money), column("l_extendedprice", money), column("l_discount", money), column("l_tax", money),
		column("l_returnflag", text), column("l_linestatus", text),
		column("l_shipdate", date), column("l_commitdate", date), column("l_receiptdate", date),
		column("l_shipinstruct", text), column("l_shipmode", text), column("l_comment", text),
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("carefully regular deposits sleep furiously above the quickly final packages ironic requests nag slyly express accounts haggle blithely pending theodolites")
	pick := func(of ...string) []byte { return []byte(of[r.IntN(len(of))]) }
	var batches []*rowbatch.Batch
	for at := 0; at < rows; at += batchRows {
		b := rowbatch.New(columns)
		c := b.Columns
		for row := at; row < min(at+batchRows, rows); row++ {
			c[0].AppendInt64(int64(row/4*8 + row%4))
			c[1].AppendInt64(r.Int64N(200_000))
			c[2].AppendInt64(r.Int64N(10_000))
			c[3].AppendInt32(int32(row % 4))
			for i, most := range []int64{5_000, 10_000_000, 11, 9} {
				c[4+i].AppendBytes(rowbatchtest.Decimal(money, fmt.Sprint(r.Int64N(most))))
			}
			c[8].AppendBytes(pick("A", "N", "R"))
			c[9].AppendBytes(pick("F", "O"))
			day := int32(8_000 + r.IntN(2_500))
			c[10].AppendInt32(day)
			c[11].AppendInt32(day + int32(r.IntN(60)))
			c[12].AppendInt32(day + int32(r.IntN(30)))
			c[13].AppendBytes(pick("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"))
			c[14].AppendBytes(pick("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"))
			comment := pick(words...)
			for range 1 + r.IntN(5) {
				comment = append(append(comment, ' '), pick(words...)...)
			}
			c[15].AppendBytes(comment)
			b.Rows++
		}
		batches = append(batches, b)
	}
	return columns, batches
}
