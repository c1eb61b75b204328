package csv

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

type field struct {
	text   string
	quoted bool
}

// records splits a file by RFC 4180, and keeps whether a field was quoted.
func records(t *testing.T, body string) [][]field {
	t.Helper()
	var all [][]field
	var record []field
	for body != "" {
		var f field
		if strings.HasPrefix(body, `"`) {
			f.quoted = true
			body = body[1:]
			for {
				part, rest, ok := strings.Cut(body, `"`)
				if !ok {
					t.Fatal("a quote is not closed")
				}
				f.text, body = f.text+part, rest
				if !strings.HasPrefix(body, `"`) {
					break
				}
				f.text, body = f.text+`"`, body[1:]
			}
		} else {
			end := strings.IndexAny(body, ",\n")
			if end < 0 {
				t.Fatal("the last record has no end")
			}
			f.text, body = body[:end], body[end:]
		}
		record = append(record, f)
		switch body[0] {
		case '\n':
			all, record = append(all, record), nil
		case ',':
		default:
			t.Fatalf("%q follows a field", body[0])
		}
		body = body[1:]
	}
	return all
}

// read reads a file back with the standard library's parsers.
func read(t *testing.T, body []byte, columns []rowtype.Column) *rowbatch.Batch {
	t.Helper()
	all := records(t, string(body))
	for i, c := range columns {
		if all[0][i].text != c.Name {
			t.Fatalf("column %d is called %q, want %q", i, all[0][i].text, c.Name)
		}
	}
	b := rowbatch.New(columns)
	for _, r := range all[1:] {
		if len(r) != len(columns) {
			t.Fatalf("record of %d fields", len(r))
		}
		for i, f := range r {
			if f.text == "" && !f.quoted {
				b.Columns[i].AppendNull()
			} else {
				parse(t, &b.Columns[i], f.text)
			}
		}
		b.Rows++
	}
	return b
}

func parse(t *testing.T, v *rowbatch.Vector, text string) {
	t.Helper()
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", v.Type, err)
		}
	}
	instant := func(layout string) time.Time {
		at, err := time.Parse(layout, text)
		fatal(err)
		return at
	}
	switch v.Type.Kind {
	case rowtype.Bool:
		v.AppendBool(text == "true")
	case rowtype.Int16, rowtype.Int32, rowtype.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		fatal(err)
		switch v.Type.Kind {
		case rowtype.Int16:
			v.AppendInt16(int16(n))
		case rowtype.Int32:
			v.AppendInt32(int32(n))
		default:
			v.AppendInt64(n)
		}
	case rowtype.UInt64:
		n, err := strconv.ParseUint(text, 10, 64)
		fatal(err)
		v.AppendUint64(n)
	case rowtype.Float32:
		x, err := strconv.ParseFloat(text, 32)
		fatal(err)
		v.AppendFloat32(float32(x))
	case rowtype.Float64:
		x, err := strconv.ParseFloat(text, 64)
		fatal(err)
		v.AppendFloat64(x)
	case rowtype.Decimal:
		v.AppendBytes(rowbatchtest.Decimal(v.Type, strings.Replace(text, ".", "", 1)))
	case rowtype.Date:
		v.AppendInt32(int32(instant(time.DateOnly).Unix() / 86_400))
	case rowtype.Time:
		v.AppendInt64(instant("15:04:05.000000").Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Microseconds())
	case rowtype.Timestamp:
		layout := "2006-01-02T15:04:05.000000"
		if v.Type.UTC {
			layout += "Z"
		}
		v.AppendInt64(instant(layout).UnixMicro())
	case rowtype.UUID, rowtype.Binary:
		x, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		fatal(err)
		v.AppendBytes(x)
	default:
		v.AppendBytes([]byte(text))
	}
}
