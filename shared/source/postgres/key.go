package postgres

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// planKey takes the key from the delivered columns where their values are the
// key's, and asks the server for the text of the others.
func planKey(key, columns []column) rowkey.Plan {
	p := rowkey.Plan{Settled: true}
	for _, k := range key {
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == k.Name })
		slot := rowkey.Slot{Index: at, Padded: k.postgres.BuiltIn && k.postgres.Name == "bpchar"}
		if len(k.casts) > 0 && !k.isOwnText() || k.Type.Kind == rowtype.List || k.fallback != "" {
			slot = rowkey.Slot{Index: len(p.Hidden), Hidden: true}
			p.Hidden = append(p.Hidden, k.expression()+"::pg_catalog.text")
		}
		p.Slots = append(p.Slots, slot)
		p.Settled = p.Settled && settledKey(k)
	}
	return p
}

// settledKey reports whether the server's idea of equal is ours for this
// column. It is not where the server ignores case, digits or units: for those
// a group of equal keys has no visible end.
func settledKey(k column) bool {
	if len(k.casts) > 0 || k.fallback != "" {
		return false
	}
	switch k.Type.Kind {
	case rowtype.Bool, rowtype.Int16, rowtype.Int32, rowtype.Int64, rowtype.Float32, rowtype.Float64, rowtype.Decimal,
		rowtype.Date, rowtype.Time, rowtype.Timestamp, rowtype.UUID, rowtype.Binary, rowtype.Enum:
		return true
	case rowtype.Text:
		return k.postgres.BuiltIn && k.settled
	}
	return false
}

// Cut implements [source.Reader].
func (r *reader) Cut() (rows int, at keyspace.Key) {
	if !r.cuttable || r.current == nil {
		return 0, nil
	}
	return r.key.Cut(rowkey.Rows{Batch: r.current.batch, Hidden: r.current.hidden}, r.spec, sameValue, keyText)
}

func sameValue(s rowkey.Slot, v *rowbatch.Vector, a, b int) bool {
	switch v.Type.Kind {
	case rowtype.Bool:
		return v.Bool(a) == v.Bool(b)
	case rowtype.Int16:
		return v.I16[a] == v.I16[b]
	case rowtype.Int32, rowtype.Date:
		return v.I32[a] == v.I32[b]
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return v.I64[a] == v.I64[b]
	case rowtype.Float32:
		return sameFloat(float64(v.F32[a]), float64(v.F32[b]))
	case rowtype.Float64:
		return sameFloat(v.F64[a], v.F64[b])
	}
	if s.Padded {
		return bytes.Equal(bytes.TrimRight(v.Slice(a), " "), bytes.TrimRight(v.Slice(b), " "))
	}
	return bytes.Equal(v.Slice(a), v.Slice(b))
}

// sameFloat is the server's equality: NaN equals itself, and so do both zeros.
func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

func keyText(v *rowbatch.Vector, row int) string {
	switch v.Type.Kind {
	case rowtype.Bool:
		return strconv.FormatBool(v.Bool(row))
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
		return time.Unix(int64(v.I32[row])*86400, 0).UTC().Format("2006-01-02")
	case rowtype.Time:
		return string(rowbatch.AppendTime(nil, v.I64[row], 6))
	case rowtype.Timestamp:
		micros := v.I64[row]
		if v.Type.Nano {
			micros /= 1000
		}
		text := time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000000")
		if v.Type.UTC {
			text += "+00"
		}
		return text
	case rowtype.UUID:
		return string(rowbatch.AppendUUID(nil, v.Slice(row)))
	case rowtype.Binary:
		return `\x` + hex.EncodeToString(v.Slice(row))
	}
	return string(v.Slice(row))
}

func floatText(x float64, bits int) string {
	switch {
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
