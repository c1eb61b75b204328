package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// randomRows returns rows in which each column is of a kind that encoders treat
// differently: few or many distinct values, runs, long values, no value at all,
// and any of these one after the other.
func randomRows(r *rand.Rand, columns []rowtype.Column, n int) *rowbatch.Batch {
	out := rowbatch.New(columns)
	for i, c := range columns {
		v := &out.Columns[i]
		for v.Len < n {
			stretch := n - v.Len
			if r.IntN(3) > 0 {
				stretch = 1 + r.IntN(stretch)
			}
			appendStretch(r, v, c, stretch)
		}
	}
	out.Rows = n
	return out
}

// appendStretch appends n rows of one kind.
func appendStretch(r *rand.Rand, v *rowbatch.Vector, c rowtype.Column, n int) {
	pool := rowbatchtest.Rows([]rowtype.Column{c}, 1+r.IntN(200), r.Uint64()).Columns[0]
	if r.IntN(4) == 0 {
		pool = special(c)
	}
	nulls := []int{0, 0, 10, 50, 90, 100}[r.IntN(6)]
	longest := []int{1, 1, 3, 40, 2000}[r.IntN(5)]
	distinct := min(pool.Len, []int{1, 2, pool.Len}[r.IntN(3)])
	offset := r.IntN(pool.Len)
	for n > 0 {
		run, from := min(n, 1+r.IntN(longest)), (offset+r.IntN(distinct))%pool.Len
		null := !c.NotNull && r.IntN(100) < nulls
		for range run {
			if null {
				v.AppendNull()
			} else {
				v.AppendRows(&pool, from, from+1)
			}
		}
		n -= run
	}
}

// special returns values that bounds have rules for.
func special(c rowtype.Column) rowbatch.Vector {
	b := rowbatch.New([]rowtype.Column{c})
	v := &b.Columns[0]
	leaf := v
	if v.Items != nil {
		leaf = v.Items
	}
	switch leaf.Type.Kind {
	case rowtype.Float32:
		for _, x := range []float64{0, math.Copysign(0, -1), math.NaN()} {
			leaf.AppendFloat32(float32(x))
		}
	case rowtype.Float64:
		for _, x := range []float64{0, math.Copysign(0, -1), math.NaN()} {
			leaf.AppendFloat64(x)
		}
	case rowtype.Binary:
		for _, n := range []int{63, 64, 65, 200} {
			leaf.AppendBytes(bytes.Repeat([]byte{0xFF}, n))
			leaf.AppendBytes(append(bytes.Repeat([]byte{0xFE}, n), 0xFF))
			leaf.AppendBytes(make([]byte, n))
		}
	case rowtype.Text, rowtype.JSON, rowtype.Enum, rowtype.Interval:
		for _, x := range []string{"a", "é", "\u07FF", "\uD7FF", "\uFFFF", "\U0001F980", "\U0010FFFF"} {
			for _, n := range []int{1, 61, 62, 63, 64, 65} {
				leaf.AppendBytes([]byte(strings.Repeat("z", n) + x))
				leaf.AppendBytes([]byte(strings.Repeat(x, n)))
			}
		}
	default:
		return rowbatchtest.Rows([]rowtype.Column{c}, 20, 1).Columns[0]
	}
	if v.Items != nil {
		v.EndList()
		v.EndList()
		if !c.NotNull {
			v.AppendNull()
		}
	}
	return *v
}

// randomColumns returns up to most columns of all types there are.
func randomColumns(r *rand.Rand, most int) []rowtype.Column {
	all := rowbatchtest.AllTypes()
	var columns []rowtype.Column
	for i := range 1 + r.IntN(most) {
		c := all[r.IntN(len(all))]
		c.Name = fmt.Sprintf("%d %s", i, c.Name)
		c.NotNull = r.IntN(3) == 0
		columns = append(columns, c)
	}
	return columns
}
