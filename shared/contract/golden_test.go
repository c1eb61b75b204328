package contract

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/zeebo/xxh3"
)

// records reads a file of tab-separated vectors. A line that starts with a tab
// goes on where the one before stopped, in the middle of a text.
func records(t *testing.T, name string) [][]string {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	var all [][]string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			line += "\n" + lines[i]
		}
		all = append(all, strings.Split(line, "\t"))
	}
	return all
}

func list(k rowtype.Kind) rowtype.Type {
	return rowtype.Type{Kind: rowtype.List, Elem: &rowtype.Type{Kind: k}}
}

var (
	dec18  = rowtype.Type{Kind: rowtype.Decimal, Precision: 18, Scale: 2}
	ts     = rowtype.Type{Kind: rowtype.Timestamp}
	tsUTC  = rowtype.Type{Kind: rowtype.Timestamp, UTC: true}
	tsNano = rowtype.Type{Kind: rowtype.Timestamp, Nano: true}
)

var debugTypes = []rowtype.Type{
	{Kind: rowtype.Bool}, {Kind: rowtype.Int16}, {Kind: rowtype.Int32}, {Kind: rowtype.Int64}, {Kind: rowtype.UInt64},
	{Kind: rowtype.Float32}, {Kind: rowtype.Float64}, {Kind: rowtype.Text}, {Kind: rowtype.Binary}, {Kind: rowtype.UUID},
	{Kind: rowtype.Date}, {Kind: rowtype.Time}, ts, tsUTC, tsNano, {Kind: rowtype.Timestamp, Nano: true, UTC: true},
	dec18, {Kind: rowtype.Decimal, Precision: 40, Scale: 4}, list(rowtype.Text), list(rowtype.Int32),
}

var schemas = map[string][]rowtype.Column{
	"[]":           nil,
	"[(id,Int64)]": {{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}}},
	"[(a,Int64),(b,Utf8),(c,Float64)]": {
		{Name: "c", Type: rowtype.Type{Kind: rowtype.Float64}}, {Name: "a", Type: rowtype.Type{Kind: rowtype.Int64}}, {Name: "b", Type: rowtype.Type{Kind: rowtype.Enum}},
	},
	`[(id,Int64),(amount,Decimal128(18, 2)),(created_at,Timestamp(Microsecond, Some("UTC"))),(tags,List Utf8)]`: {
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}}, {Name: "amount", Type: dec18}, {Name: "created_at", Type: tsUTC}, {Name: "tags", Type: list(rowtype.Text)},
	},
}

// testdata/golden-vectors.tsv was computed with the upstream's own libraries.
func TestGoldenVectors(t *testing.T) {
	check := func(t *testing.T, r []string, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q: got %s, want %s", r, got, want)
		}
	}
	debug := map[string]bool{}
	for _, typ := range debugTypes {
		debug[typ.ArrowDebug()] = true
	}
	for _, r := range records(t, "golden-vectors.tsv") {
		switch r[0] {
		case "debug":
			if !debug[r[1]] {
				t.Errorf("no type has the text %q", r[1])
			}
		case "schema_fp":
			columns, ok := schemas[r[1]]
			if !ok {
				t.Fatalf("unknown schema %q", r[1])
			}
			check(t, r, string(SchemaFingerprint(columns)), r[2])
		case "xxh3_64":
			text, err := strconv.Unquote(r[1])
			if err != nil {
				t.Fatal(err)
			}
			check(t, r, string(FingerprintOf([]byte(text))), r[2])
		case "display":
			v := parseGolden(t, r[1], r[2])
			cell := AppendCell(nil, &v, 0)
			check(t, r, hex.EncodeToString(cell), strings.TrimPrefix(r[3], "cell_bytes="))
			check(t, r, hashOf(v), strings.TrimPrefix(r[4], "row_hash_i64="))
		case "row_hash":
			row := goldenRow(t, r[1])
			var frame []byte
			for i := range row {
				frame = AppendCell(frame, &row[i], 0)
			}
			check(t, r, hex.EncodeToString(frame), strings.TrimPrefix(r[2], "bytes="))
			check(t, r, hashOf(row...), strings.TrimPrefix(r[3], "i64="))
		case "form_b":
			check(t, r, goldenChecksum(t, r[1]), r[2])
		default:
			t.Errorf("unknown kind of vector: %q", r)
		}
	}
}

func hashOf(row ...rowbatch.Vector) string {
	columns := make([]int, len(row))
	for i := range columns {
		columns[i] = i
	}
	h := NewRowHasher(columns).Hash(&rowbatch.Batch{Columns: row, Rows: 1}, 0)
	return strconv.FormatInt(h, 10)
}

// vectorOf returns a vector of one column of type typ.
func vectorOf(typ rowtype.Type, add func(v *rowbatch.Vector)) rowbatch.Vector {
	v := rowbatch.New([]rowtype.Column{{Type: typ}}).Columns[0]
	add(&v)
	return v
}

// parseGolden turns the text of a display vector back into the value.
func parseGolden(t *testing.T, kind, text string) rowbatch.Vector {
	t.Helper()
	instant := func(layout string) time.Time {
		at, err := time.Parse(layout, strings.TrimSuffix(text, "Z"))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	integer := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	float := func(bits int) float64 {
		x, err := strconv.ParseFloat(text, bits)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	typ, ok := map[string]rowtype.Type{
		"bool": {Kind: rowtype.Bool}, "int64": {Kind: rowtype.Int64}, "uint64": {Kind: rowtype.UInt64}, "float32": {Kind: rowtype.Float32},
		"float64": {Kind: rowtype.Float64}, "utf8": {Kind: rowtype.Text}, "binary": {Kind: rowtype.Binary}, "uuid": {Kind: rowtype.UUID},
		"date32": {Kind: rowtype.Date}, "time64us": {Kind: rowtype.Time}, "ts_us_naive": ts, "ts_us_utc": tsUTC, "ts_ns_naive": tsNano,
		"dec128(18,2)": dec18, "dec128(18,0)": {Kind: rowtype.Decimal, Precision: 18},
	}[kind]
	if !ok {
		t.Fatalf("unknown type %q", kind)
	}
	return vectorOf(typ, func(v *rowbatch.Vector) {
		if text == "<NULL>" {
			v.AppendNull()
			return
		}
		switch kind {
		case "bool":
			v.AppendBool(text == "true")
		case "int64":
			v.AppendInt64(integer(text))
		case "uint64":
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			v.AppendUint64(n)
		case "float32":
			v.AppendFloat32(float32(float(32)))
		case "float64":
			v.AppendFloat64(float(64))
		case "utf8":
			v.AppendBytes([]byte(text))
		case "binary", "uuid":
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			v.AppendBytes(b)
		case "date32":
			v.AppendInt32(int32(instant(time.DateOnly).Unix() / 86_400))
		case "time64us":
			v.AppendInt64(instant("15:04:05").Sub(instant("15:04:05").Truncate(24 * time.Hour)).Microseconds())
		case "ts_us_naive", "ts_us_utc":
			v.AppendInt64(instant("2006-01-02T15:04:05").UnixMicro())
		case "ts_ns_naive":
			v.AppendInt64(instant("2006-01-02T15:04:05").UnixNano())
		default:
			v.AppendBytes(rowbatchtest.Decimal(typ, strings.ReplaceAll(text, ".", "")))
		}
	})
}

func goldenRow(t *testing.T, name string) []rowbatch.Vector {
	t.Helper()
	switch name {
	case "(1,'alice',123.45)":
		return []rowbatch.Vector{parseGolden(t, "int64", "1"), parseGolden(t, "utf8", "alice"), parseGolden(t, "dec128(18,2)", "123.45")}
	case "list['a',NULL,'']":
		return []rowbatch.Vector{vectorOf(list(rowtype.Text), func(v *rowbatch.Vector) {
			v.Items.AppendBytes([]byte("a"))
			v.Items.AppendNull()
			v.Items.AppendBytes(nil)
			v.EndList()
		})}
	}
	t.Fatalf("unknown row %q", name)
	return nil
}

func goldenChecksum(t *testing.T, name string) string {
	t.Helper()
	ids := vectorOf(rowtype.Type{Kind: rowtype.Int64}, func(v *rowbatch.Vector) {
		for id := range int64(3) {
			v.AppendInt64(id + 1)
		}
	})
	names := vectorOf(rowtype.Type{Kind: rowtype.Text}, func(v *rowbatch.Vector) {
		for _, s := range []string{"alice", "bob", "carol"} {
			v.AppendBytes([]byte(s))
		}
	})
	b := &rowbatch.Batch{Columns: []rowbatch.Vector{ids, names}, Rows: 3}
	column, key := 0, -1
	switch name {
	case "unkeyed int64 [1,2,3] (LE bytes)":
	case "keyed utf8 by int64 key":
		column, key = 1, 0
	default:
		t.Fatalf("unknown checksum %q", name)
	}
	c := NewChecksums(2, key)
	c.Add(b)
	return strconv.FormatUint(c.Sums()[column], 10)
}

// MAN-18: what the reference library in C gives for bodies whose byte i is
// i mod 251, in one piece and cut in two anywhere.
func TestFingerprintTwins(t *testing.T) {
	for n, want := range map[int]string{
		0: "2d06800538d394c2", 1: "c44bdff4074eecdb", 3: "5f4299fc161c9cbb", 8: "3a1c2d7c85af88f8", 16: "8355e3a6f61770db", 17: "9ef341a99de37328",
		128: "85c6174c7ff4c46b", 129: "ec7642b431ba3e5a", 240: "375a384d957fe865", 241: "02e8cd95421c6d02", 1024: "e5d78bafa45b2aa5", 1048576: "6e0d7ac36b8c10ff",
	} {
		body := make([]byte, n)
		for i := range body {
			body[i] = byte(i % 251)
		}
		if got := FingerprintOf(body).Hex(); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
		for at := 0; at <= n; at += max(1, n/257) {
			h := xxh3.New()
			h.Write(body[:at])
			h.Write(body[at:])
			if got := FingerprintOf64(h.Sum64()).Hex(); got != want {
				t.Fatalf("%d bytes in two pieces, cut at %d: %s, want %s", n, at, got, want)
			}
		}
	}
}
