package sqlserver

import (
	"bytes"
	"context"
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

// IntegerBounds implements [source.Source].
func (s *Source) IntegerBounds(ctx context.Context, rel source.Relation, key keyspace.Column) (source.IntegerBounds, error) {
	var b source.IntegerBounds
	err := s.inspect(ctx, "find the bounds of "+quoted(key.Name), rel, func(r relation, columns []column) error {
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == key.Name })
		if at < 0 {
			return fault.New(fault.Permanent, failure.ColumnMissing, "%s has no column %s%s", r, quoted(key.Name), inOtherCase(key.Name, columns))
		}
		c := columns[at]
		if c.family() != wholeFamily {
			return fault.New(fault.Permanent, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE", "column %s of %s is %s, and a range of integers would miss the values between them: "+
				"take an integer column, or chunk_by_key for a unique one", quoted(c.Name), r, c.Native)
		}
		rows, err := s.session.query(ctx, "select min("+input(c.Name)+"), max("+input(c.Name)+") from "+r.from())
		if err != nil {
			return err
		}
		b = source.IntegerBounds{Empty: rows[0].null(0), Min: rows[0].int(0), Max: rows[0].int(1)}
		if c.notNull {
			return nil
		}
		rows, err = s.session.query(ctx, "select top (1) 1 from "+r.from()+" where "+input(c.Name)+" is null")
		b.HasNull = len(rows) > 0
		return err
	})
	return b, err
}

// planKey takes the key from the delivered columns where their values are the
// key's, and asks the server for the text of the others.
func planKey(key, columns []column) rowkey.Plan {
	p := rowkey.Plan{Settled: true}
	for _, k := range key {
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == k.Name })
		slot := rowkey.Slot{Index: at}
		if !k.delivered() {
			slot = rowkey.Slot{Index: len(p.Hidden), Hidden: true}
			p.Hidden = append(p.Hidden, k.keyText(k.expression()))
		}
		p.Slots = append(p.Slots, slot)
		p.Settled = p.Settled && k.settled()
	}
	return p
}

// deliveredAs are the kinds whose delivered values give the text of a bound, by
// family.
var deliveredAs = map[family][]rowtype.Kind{
	wholeFamily: {rowtype.Int16, rowtype.Int32, rowtype.Int64}, decimalFamily: {rowtype.Decimal}, floatFamily: {rowtype.Float32, rowtype.Float64},
	timeFamily: {rowtype.Date, rowtype.Time, rowtype.Timestamp}, guidFamily: {rowtype.UUID},
	unicodeFamily: {rowtype.Text, rowtype.JSON}, codePageFamily: {rowtype.Text, rowtype.JSON}, bytesFamily: {rowtype.Binary},
}

// delivered reports whether the values of the key come with the rows, as they
// are: not those of a time with more or fewer digits than its text has.
func (c column) delivered() bool {
	switch name := c.server.Name; {
	case c.fallback != "" || c.serverText || name == "datetime" || name == "smalldatetime" || c.family() == timeFamily && c.server.Scale > 6:
		return false
	}
	return slices.Contains(deliveredAs[c.family()], c.Type.Kind)
}

// settled reports whether the server's idea of equal is ours for this column.
// Text is so only under a collation by code point.
func (c column) settled() bool {
	if c.fallback != "" {
		return false
	}
	switch c.family() {
	case unicodeFamily, codePageFamily:
		return strings.HasSuffix(c.collation, "_BIN2")
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

// sameValue compares by the texts of bounds. Spaces at the end of a text, and
// zeros at the end of bytes, do not count: a group that is too large is only
// cut later.
func sameValue(_ rowkey.Slot, v *rowbatch.Vector, a, b int) bool {
	switch v.Type.Kind {
	case rowtype.Binary:
		return bytes.Equal(bytes.TrimRight(v.Slice(a), "\x00"), bytes.TrimRight(v.Slice(b), "\x00"))
	case rowtype.Text, rowtype.JSON:
		return bytes.Equal(bytes.TrimRight(v.Slice(a), " "), bytes.TrimRight(v.Slice(b), " "))
	}
	return valueText(v, a) == valueText(v, b)
}

func valueText(v *rowbatch.Vector, row int) string {
	switch v.Type.Kind {
	case rowtype.Int16:
		return strconv.Itoa(int(v.I16[row]))
	case rowtype.Int32:
		return strconv.Itoa(int(v.I32[row]))
	case rowtype.Int64:
		return strconv.FormatInt(v.I64[row], 10)
	case rowtype.Float32:
		return floatText(float64(v.F32[row]), 32)
	case rowtype.Float64:
		return floatText(v.F64[row], 64)
	case rowtype.Decimal:
		return string(rowbatch.AppendDecimal(nil, v.Slice(row), v.Type.Scale))
	case rowtype.Date:
		return time.Unix(int64(v.I32[row])*86400, 0).UTC().Format(time.DateOnly)
	case rowtype.Time:
		return time.UnixMicro(v.I64[row]).UTC().Format("15:04:05.999999")
	case rowtype.Timestamp:
		return timestampText(v, row)
	case rowtype.UUID:
		return string(rowbatch.AppendUUID(nil, v.Slice(row)))
	case rowtype.Binary:
		return hexText(v.Slice(row))
	}
	return string(v.Slice(row))
}

func timestampText(v *rowbatch.Vector, row int) string {
	layout := "2006-01-02T15:04:05.999999"
	if v.Type.UTC {
		layout += "-07:00"
	}
	at := time.UnixMicro(v.I64[row])
	if v.Type.Nano {
		at = time.Unix(0, v.I64[row])
	}
	return at.UTC().Format(layout)
}

// floatText is a float for a statement, in which both zeros are equal.
func floatText(x float64, bits int) string {
	if x == 0 {
		return "0"
	}
	return strconv.FormatFloat(x, 'e', -1, bits)
}
