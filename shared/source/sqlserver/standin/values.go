package standin

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// compare orders two values that are not NULL as the server does.
func compare(a, b any) (int, error) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
	}
	if x, ok := ratOf(a); ok {
		if y, ok := ratOf(b); ok {
			return x.Cmp(y), nil
		}
	}
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok { // spaces at the end do not count
			return cmp.Compare(padded(x), padded(y)), nil
		}
	case []byte:
		if y, ok := b.([]byte); ok { // nor do zeros
			n := max(len(x), len(y))
			return bytes.Compare(append(slices.Clone(x), make([]byte, n-len(x))...), append(slices.Clone(y), make([]byte, n-len(y))...)), nil
		}
	case [16]byte:
		if y, ok := b.([16]byte); ok {
			return compareGUID(x, y), nil
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), nil
		}
	case bool:
		if y, ok := b.(int64); ok {
			n := int64(0)
			if x {
				n = 1
			}
			return cmp.Compare(n, y), nil
		}
	}
	return 0, tdsfake.Error{Number: 402, Class: 16, Message: fmt.Sprintf("The data types of %T and %T are incompatible.", a, b)}
}

// compareGUID looks at the last group first. The bytes are in the order of the
// text.
func compareGUID(a, b [16]byte) int {
	for _, group := range [][]int{{10, 11, 12, 13, 14, 15}, {8, 9}, {6, 7}, {4, 5}, {0, 1, 2, 3}} {
		inner := slices.Clone(group)
		if group[0] < 8 { // of these the lowest byte is kept, and compared, first
			slices.Reverse(inner)
		}
		for _, i := range inner {
			if c := cmp.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// sorted sorts rows; NULL comes first.
func sorted(e *scope, rows [][]any, order []ordering) ([][]any, error) {
	if len(order) == 0 || e.group != nil {
		return rows, nil
	}
	type entry struct {
		row  []any
		keys []any
	}
	entries := make([]entry, len(rows))
	for i, r := range rows {
		entries[i].row, e.row = r, r
		for _, o := range order {
			v, err := o.value.eval(e)
			if err != nil {
				return nil, err
			}
			entries[i].keys = append(entries[i].keys, v)
		}
	}
	var failed error
	slices.SortStableFunc(entries, func(a, b entry) int {
		for i, o := range order {
			var c int
			switch x, y := a.keys[i], b.keys[i]; {
			case x == nil && y == nil:
			case x == nil:
				c = -1
			case y == nil:
				c = 1
			default:
				var err error
				if c, err = compare(x, y); err != nil {
					failed = err
				}
			}
			if o.descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	out := make([][]any, len(entries))
	for i := range entries {
		out[i] = entries[i].row
	}
	return out, failed
}

func (c conversion) kind(e *scope) kind {
	k := c.to
	if isText(k.Type) {
		k.collation = c.value.kind(e).collation
	}
	return k
}

func (c conversion) eval(e *scope) (any, error) {
	v, err := c.value.eval(e)
	if err != nil || v == nil {
		return nil, err
	}
	from := c.value.kind(e)
	switch c.to.Name {
	case "nvarchar", "nchar", "varchar", "char":
		return asText(v, from, c.to, c.style)
	case "varbinary", "binary":
		return asBytes(v, from, c.to)
	}
	return asValue(v, c.to.Type)
}

func failedTo(v any, to tdsfake.Type) error {
	return tdsfake.Error{Number: 8114, Class: 16, Message: fmt.Sprintf("Error converting %v to %s.", v, to.Name)}
}

func asText(v any, from, to kind, style int) (any, error) {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case int64:
		s = strconv.FormatInt(v, 10)
	case bool:
		s = map[bool]string{true: "1", false: "0"}[v]
	case float64:
		if style != 3 {
			return nil, failedTo(v, to.Type)
		}
		s = strconv.FormatFloat(v, 'e', 16, 64)
		if from.Name == "real" {
			s = strconv.FormatFloat(v, 'e', 8, 32)
		}
	case *big.Rat:
		scale := from.Scale
		if strings.HasSuffix(from.Name, "money") {
			if scale = 2; style == 2 {
				scale = 4
			}
		}
		s = v.FloatString(scale)
	case [16]byte:
		s = strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]))
	case []byte:
		switch {
		case style == 2:
			s = strings.ToUpper(hex.EncodeToString(v))
		case style == 1:
			s = "0x" + strings.ToUpper(hex.EncodeToString(v))
		case isText(from.Type) && strings.HasPrefix(from.Name, "n") == strings.HasPrefix(to.Name, "n"): // that no string can hold
			return v, nil
		case isText(from.Type): // what a code page has no character for becomes another one
			for _, b := range v {
				if b < utf8.RuneSelf {
					s += string(rune(b))
				} else {
					s += "\u30fb"
				}
			}
		default:
			return nil, failedTo(v, to.Type)
		}
	case time.Time:
		var err error
		if s, err = timeText(v, from.Type, style); err != nil {
			return nil, err
		}
	default:
		return nil, failedTo(v, to.Type)
	}
	if to.Length > 0 && len(utf16.Encode([]rune(s))) > to.Length {
		s = string([]rune(s)[:min(to.Length, len([]rune(s)))])
	}
	return s, nil
}

// timeText writes a time in the few styles that have no language.
func timeText(at time.Time, from tdsfake.Type, style int) (string, error) {
	fraction := ""
	if scale := from.Scale; scale > 0 {
		fraction = "." + strings.Repeat("0", scale)
	}
	switch {
	case from.Name == "date" && style == 23:
		return at.Format(time.DateOnly), nil
	case from.Name == "time" && style == 121:
		return at.Format("15:04:05" + fraction), nil
	case style != 126:
		return "", fmt.Errorf("style %d of %s", style, from.Name)
	case from.Name == "datetimeoffset":
		return at.Format("2006-01-02T15:04:05" + fraction + "-07:00"), nil
	case from.Name == "datetime":
		return at.Round(time.Millisecond).Format("2006-01-02T15:04:05.999"), nil
	}
	return at.Format("2006-01-02T15:04:05" + fraction), nil
}

func asBytes(v any, from, to kind) (any, error) {
	var b []byte
	switch v := v.(type) {
	case []byte:
		b = v
	case string:
		b = encoded(v, from)
	case time.Time:
		if from.Name != "datetime" {
			return nil, failedTo(v, to.Type)
		}
		b = ticksOf(v)
	default:
		return nil, failedTo(v, to.Type)
	}
	if to.Length >= 0 && len(b) > to.Length {
		b = b[:to.Length]
	}
	if to.Name == "binary" {
		b = append(slices.Clone(b), make([]byte, max(to.Length-len(b), 0))...)
	}
	return b, nil
}

// encoded are the bytes of a text of a type.
func encoded(s string, k kind) []byte {
	switch {
	case strings.HasPrefix(k.Name, "n"):
		var b []byte
		for _, u := range utf16.Encode([]rune(s)) {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return b
	case strings.HasSuffix(strings.ToUpper(k.collation), "_UTF8"):
		return []byte(s)
	}
	var b []byte
	for _, r := range s { // a code page of one byte
		if r > 0xFF && r != '€' {
			r = '?'
		}
		b = append(b, byte(r))
	}
	return b
}

// asValue converts to a type that is neither text nor bytes.
func asValue(v any, to tdsfake.Type) (any, error) {
	if at, ok := v.(time.Time); ok {
		if to.Name == "datetime" {
			return roundToTicks(at), nil
		}
		return at, nil
	}
	s, isString := v.(string)
	switch to.Name {
	case "decimal", "numeric", "money", "smallmoney":
		if isString {
			if r, ok := new(big.Rat).SetString(s); ok {
				return r, nil
			}
		} else if r, ok := ratOf(v); ok {
			return r, nil
		}
	case "float", "real":
		if f, ok := v.(float64); ok {
			return f, nil
		}
		bits := map[string]int{"float": 64, "real": 32}[to.Name]
		if f, err := strconv.ParseFloat(s, bits); err == nil {
			return f, nil
		}
	case "int", "bigint", "smallint", "tinyint":
		switch n := v.(type) {
		case int64:
			return n, nil
		case bool:
			return map[bool]int64{true: 1}[n], nil
		}
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n, nil
		}
	case "uniqueidentifier":
		if id, ok := v.([16]byte); ok {
			return id, nil
		}
		var id [16]byte
		if b, err := hex.DecodeString(strings.ReplaceAll(s, "-", "")); err == nil && copy(id[:], b) == 16 && len(s) == 36 {
			return id, nil
		}
	case "date", "time", "datetime", "smalldatetime", "datetime2", "datetimeoffset":
		return parseTime(s, to)
	}
	return nil, failedTo(v, to)
}

func parseTime(s string, to tdsfake.Type) (any, error) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", time.DateOnly, "15:04:05.999999999"} {
		at, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		switch {
		case (to.Name == "datetime" || to.Name == "smalldatetime") && at.Nanosecond()%1_000_000 != 0:
			return nil, tdsfake.Error{Number: 241, Class: 16, Message: "Conversion failed when converting date and/or time from character string."}
		case to.Name == "datetime":
			return roundToTicks(at), nil
		case layout == "15:04:05.999999999":
			return time.Date(1, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC), nil
		}
		return at, nil
	}
	return nil, tdsfake.Error{Number: 241, Class: 16, Message: "Conversion failed when converting date and/or time from character string."}
}

// ticks are the three-hundredths of a second of a datetime since midnight.
func ticks(at time.Time) (days, n int64) {
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	days = (midnight.Unix() - time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) / 86400
	return days, int64(math.Round(float64(at.Sub(midnight).Nanoseconds()) * 300 / 1e9))
}

func roundToTicks(at time.Time) time.Time {
	days, n := ticks(at)
	return time.Date(1900, 1, 1+int(days), 0, 0, int(n/300), int((n%300*10_000_000+1)/3), time.UTC)
}

func ticksOf(at time.Time) []byte {
	days, n := ticks(at)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(int32(days))), uint32(n))
}

func binaryOf(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
