package mysql

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// IntegerBounds implements [source.Source]. The bounds choose cuts only, so
// those of an unsigned key beyond 63 bits are cut down to them: the last range
// is open above.
func (s *Source) IntegerBounds(ctx context.Context, rel source.Relation, key keyspace.Column) (source.IntegerBounds, error) {
	var b source.IntegerBounds
	err := s.transaction(ctx, fmt.Sprintf("find the bounds of %s of %s", quoted(key.Name), label(rel)), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == key.Name })
		if at < 0 {
			return fault.New(fault.Permanent, failure.ColumnMissing, "%s has no column %s%s", r, quoted(key.Name), inOtherCase(key.Name, columns))
		}
		c := columns[at]
		if c.family() != wholeFamily {
			return fault.New(fault.Permanent, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE", "column %s of %s is %s, and a range of integers would miss the values between them: "+
				"take an integer column, or chunk_by_key for a unique one", quoted(c.Name), r, c.Native)
		}
		rows, err := s.session.query(ctx, boundsStatement(r, c))
		if err != nil {
			return err
		}
		found := rows[0]
		b = source.IntegerBounds{Empty: found.null(0), HasNull: found.int(2) > 0}
		if !b.Empty {
			b.Min, b.Max = atMost63Bits(found.text(0)), atMost63Bits(found.text(1))
		}
		return nil
	})
	return b, err
}

// atMost63Bits is a number, or the greatest one that an int64 holds.
func atMost63Bits(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// boundsStatement asks for least, greatest and whether there is a NULL: on a
// table in three parts, so that each can use an index, on a query in one pass.
func boundsStatement(r relation, c column) string {
	k := input(c.Name)
	null := "0"
	switch {
	case c.notNull:
	case r.Query != "":
		null = "coalesce(max(" + k + " is null), 0)"
	default:
		null = "exists (select 1 from " + r.from() + " where " + k + " is null)"
	}
	return "select min(" + k + "), max(" + k + "), " + null + " from " + r.from()
}

// planKey takes the key from the delivered columns where their values are the
// key's, and asks the server for the text of the others.
func planKey(key, columns []column) rowkey.Plan {
	p := rowkey.Plan{Settled: true}
	for _, k := range key {
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == k.Name })
		slot := rowkey.Slot{Index: at}
		if k.fallback != "" || k.serverText || !sameText[k.Type.Kind] {
			slot = rowkey.Slot{Index: len(p.Hidden), Hidden: true}
			p.Hidden = append(p.Hidden, k.keyText(k.expression()))
		}
		p.Slots = append(p.Slots, slot)
		p.Settled = p.Settled && k.settled()
	}
	return p
}

// sameText are the kinds whose delivered values give the text of a bound.
var sameText = map[rowtype.Kind]bool{
	rowtype.Int16: true, rowtype.Int32: true, rowtype.Int64: true, rowtype.UInt64: true, rowtype.Float32: true, rowtype.Float64: true,
	rowtype.Decimal: true, rowtype.Date: true, rowtype.Time: true, rowtype.Timestamp: true, rowtype.Text: true, rowtype.Binary: true,
}

// longestSorted is the most bytes of a text that a sort is sure to look at, in
// every collation, with the max_sort_length of a session.
const longestSorted = 4096

// settled reports whether the server's idea of equal is ours for this column.
// Text is so only under a collation by code point, and where a sort looks at
// all of it.
func (c column) settled() bool {
	if c.fallback != "" {
		return false
	}
	switch c.family() {
	case textFamily:
		return strings.HasSuffix(c.collation, "_bin") && c.octets > 0 && c.octets <= longestSorted
	case bytesFamily:
		return c.octets > 0 && c.octets <= longestSorted
	case noFamily:
		return false
	}
	return true
}

// Cut implements [source.Reader].
func (r *reader) Cut() (rows int, at keyspace.Key) {
	if !r.cuttable {
		return 0, nil
	}
	return r.key.Cut(rowkey.Rows{Batch: r.batch, Hidden: r.hidden}, r.spec, sameValue, valueText)
}

// sameValue compares by the texts of bounds. Spaces at the end of a text may or
// may not count: a group that is too large is only cut later.
func sameValue(_ rowkey.Slot, v *rowbatch.Vector, a, b int) bool {
	if v.Type.Kind != rowtype.Text {
		return valueText(v, a) == valueText(v, b)
	}
	return bytes.Equal(bytes.TrimRight(v.Slice(a), " "), bytes.TrimRight(v.Slice(b), " "))
}

func valueText(v *rowbatch.Vector, row int) string {
	switch v.Type.Kind {
	case rowtype.Int16:
		return strconv.Itoa(int(v.I16[row]))
	case rowtype.Int32:
		return strconv.Itoa(int(v.I32[row]))
	case rowtype.Int64:
		return strconv.FormatInt(v.I64[row], 10)
	case rowtype.UInt64:
		return strconv.FormatUint(v.U64[row], 10)
	case rowtype.Float32: // it is compared as a double
		return floatText(float64(v.F32[row]))
	case rowtype.Float64:
		return floatText(v.F64[row])
	case rowtype.Decimal:
		return string(rowbatch.AppendDecimal(nil, v.Slice(row), v.Type.Scale))
	case rowtype.Date:
		return time.Unix(int64(v.I32[row])*86400, 0).UTC().Format("2006-01-02")
	case rowtype.Time:
		return string(rowbatch.AppendTime(nil, v.I64[row], 6))
	case rowtype.Timestamp:
		micros := v.I64[row]
		if v.Type.Nano {
			micros /= 1000
		}
		return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000000")
	case rowtype.Binary:
		return hexText(v.Slice(row))
	}
	return string(v.Slice(row))
}

// floatText is a float for a statement, in which both zeros are equal.
func floatText(x float64) string {
	if x == 0 {
		return "0"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
