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
)

// keyPlan says where a reader finds the values of the key.
type keyPlan struct {
	slots  []keySlot
	hidden []string // expressions selected in addition
	// settled is true when two keys that the server takes for equal are told
	// to be equal here too, so that the end of a group of equal keys can be
	// seen in the rows.
	settled bool
}

type keySlot struct {
	index  int  // of the column, or of the hidden one
	hidden bool // the value comes as text in a column of its own
	padded bool // trailing spaces do not count
}

// planKey takes the key from the delivered columns where their values are the
// key's, and asks the server for the text of the others.
func planKey(key, columns []column) keyPlan {
	p := keyPlan{settled: true}
	for _, k := range key {
		at := slices.IndexFunc(columns, func(c column) bool { return c.Name == k.Name })
		slot := keySlot{index: at, padded: k.postgres.BuiltIn && k.postgres.Name == "bpchar"}
		if len(k.casts) > 0 && !k.isOwnText() || k.Type.Kind == rowtype.List || k.fallback != "" {
			slot = keySlot{index: len(p.hidden), hidden: true}
			p.hidden = append(p.hidden, k.expression()+"::pg_catalog.text")
		}
		p.slots = append(p.slots, slot)
		p.settled = p.settled && settledKey(k)
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

// Cut implements [source.Reader]. It returns no rows at the upper bound of the
// range, where nothing is left for another task.
func (r *reader) Cut() (rows int, at keyspace.Key) {
	if !r.cuttable || r.current == nil || r.current.batch.Rows == 0 {
		return 0, nil
	}
	rows = r.current.batch.Rows
	if !r.unique { // the last group may go on in the next batch
		last := rows - 1
		for rows > 0 && r.sameKey(rows-1, last) {
			rows--
		}
		if rows == 0 {
			return 0, nil
		}
	}
	at = r.keyAt(rows - 1)
	if slices.Equal(at, r.upTo) {
		return 0, nil
	}
	return rows, at
}

func (r *reader) vector(s keySlot) *rowbatch.Vector {
	if s.hidden {
		return &r.current.hidden.Columns[s.index]
	}
	return &r.current.batch.Columns[s.index]
}

// keyAt is the key of a row as text that the server reads as the same value.
func (r *reader) keyAt(row int) keyspace.Key {
	key := make(keyspace.Key, len(r.key.slots))
	for i, s := range r.key.slots {
		key[i] = keyText(r.vector(s), row)
	}
	return key
}

func (r *reader) sameKey(a, b int) bool {
	for _, s := range r.key.slots {
		if !sameValue(r.vector(s), a, b, s.padded) {
			return false
		}
	}
	return true
}

func sameValue(v *rowbatch.Vector, a, b int, padded bool) bool {
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
	if padded {
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
