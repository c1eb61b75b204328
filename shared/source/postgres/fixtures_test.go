package postgres

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// expectation is a case of a testdata/*.expected.json.
type expectation struct {
	Table    string          `json:"table"`
	Outcome  string          `json:"outcome"`
	Rows     [][]any         `json:"rows"`
	IfRows   *expectation    `json:"if_rows"`
	Columns  json.RawMessage `json:"columns"`
	RowCount int             `json:"row_count"`
	MustName []string        `json:"must_name"`
	Bits     bool            `json:"bits"`
	With     map[string]any  `json:"with_override"`
}

// load runs a fixture's SQL and returns its cases by table.
func (s *server) load(t *testing.T, name string) map[string]expectation {
	t.Helper()
	statements, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(statements)
	if s.major(t) < 14 { // numeric has no infinity
		text = strings.ReplaceAll(text, ",(2,'Infinity'),(3,'-Infinity')", "")
	}
	if _, err := s.admin.Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join("testdata", name+".expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []expectation `json:"cases"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	cases := map[string]expectation{}
	for _, c := range file.Cases {
		if _, there := cases[c.Table]; !there {
			cases[c.Table] = c
		}
	}
	return cases
}

// export reads all rows of a relation in one range, as one batch.
func export(t *testing.T, s *Source, rel source.Relation) (*rowbatch.Batch, error) {
	t.Helper()
	table, err := s.Describe(t.Context(), rel)
	if err != nil {
		return nil, err
	}
	spec := source.ReadSpec{Relation: rel, Columns: table.Columns}
	spec.Range.All = true
	if len(table.Keys) > 0 {
		spec.Key, spec.Ordered, spec.Unique = table.Keys[0].Columns, true, true
	}
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		return nil, err
	}
	defer r.Close(t.Context())
	b, err := r.Next(t.Context())
	if err == io.EOF {
		return rowbatch.New(table.Columns), nil
	}
	return b, err
}

func relationOf(table string) source.Relation {
	schema, name, _ := strings.Cut(table, ".")
	if unquoted, ok := strings.CutPrefix(name, `"`); ok {
		name = strings.ReplaceAll(strings.TrimSuffix(unquoted, `"`), `""`, `"`)
	}
	return source.Relation{Schema: schema, Name: name}
}

// TestFixtures runs every case that says which rows, how many, or which
// refusal.
func TestFixtures(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"pg_01_temporal", "pg_02_numeric", "pg_03_text_json_arrays", "pg_04_keys", "pg_06_catalog", "pg_07_collation"} {
		t.Run(name, func(t *testing.T) {
			for table, c := range s.load(t, name) {
				t.Run(table, func(t *testing.T) {
					batch, err := export(t, s.source(t), relationOf(table))
					if c.Outcome == "rows_or_refuse" { // money
						sourcetest.WantRefusal(t, err, fault.Permanent, failure.Type, `"m"`, "decimal(19,2)")
						return
					}
					switch class, _, _ := strings.Cut(c.Outcome, "_"); {
					case c.Outcome == "refuse":
						class, code := fault.Refused, failure.Value
						if strings.HasSuffix(table, "num_inf") { // refused at plan already
							class, code = fault.Permanent, failure.Type
						}
						sourcetest.WantRefusal(t, err, class, code, append(c.MustName, relationOf(table).Name)...)
					case c.Outcome == "refuse_at_plan_without_override":
						sourcetest.WantRefusal(t, err, fault.Permanent, failure.Type, c.MustName...)
					case err != nil:
						t.Fatal(err)
					case c.Bits:
						checkBits(t, batch, c.Rows)
					case class == "rows" && len(c.Rows) > 0:
						checkRows(t, batch, c.Rows)
					case c.RowCount != batch.Rows && c.RowCount > 0:
						t.Fatalf("%d rows, want %d", batch.Rows, c.RowCount)
					}
				})
			}
		})
	}
}

func checkRows(t *testing.T, b *rowbatch.Batch, want [][]any) {
	t.Helper()
	if b.Rows != len(want) {
		t.Fatalf("%d rows, want %d", b.Rows, len(want))
	}
	byKey := map[string]int{}
	for i := range b.Rows {
		byKey[printed(&b.Columns[0], i)] = i
	}
	for _, row := range want {
		i, there := byKey[fmt.Sprint(row[0])]
		if !there {
			t.Errorf("no row %v", row[0])
			continue
		}
		if len(row) != len(b.Columns) {
			t.Fatalf("%d columns, want %d", len(b.Columns), len(row))
		}
		for c, cell := range row {
			if got, want := printed(&b.Columns[c], i), wanted(cell); got != want && !(want == "[]" && got == "[]") {
				t.Errorf("row %v column %d: %s, want %s", row[0], c, got, want)
			}
		}
	}
}

// printed is a cell in the notation of the expected files.
func printed(v *rowbatch.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	switch v.Type.Kind {
	case rowtype.Bool:
		return fmt.Sprint(v.Bool(i))
	case rowtype.Float32:
		return fmt.Sprint(v.F32[i])
	case rowtype.Float64:
		return fmt.Sprint(v.F64[i])
	case rowtype.Int16:
		return fmt.Sprint(v.I16[i])
	case rowtype.Int32, rowtype.Date:
		return fmt.Sprint(v.I32[i])
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return fmt.Sprint(v.I64[i])
	case rowtype.Decimal:
		return string(rowbatch.AppendDecimal(nil, v.Slice(i), v.Type.Scale))
	case rowtype.UUID, rowtype.Binary:
		return "hex " + hex.EncodeToString(v.Slice(i))
	case rowtype.List:
		var items []string
		for first, last := v.ItemRange(i); first < last; first++ {
			items = append(items, printed(v.Items, first))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return string(v.Slice(i))
}

func wanted(cell any) string {
	switch x := cell.(type) {
	case nil:
		return "null"
	case []any:
		var items []string
		for _, item := range x {
			items = append(items, wanted(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		if x == "hex (zero length)" {
			return "hex "
		}
		if at, err := time.Parse(time.RFC3339Nano, x); err == nil {
			return fmt.Sprint(at.UnixMicro())
		}
		if len(x) == 36 && strings.Count(x, "-") == 4 {
			return "hex " + strings.ReplaceAll(x, "-", "")
		}
		return x
	}
	return fmt.Sprint(cell)
}

// checkBits compares floats by their bits. NaN has many, the server's one
// comes through.
func checkBits(t *testing.T, b *rowbatch.Batch, rows [][]any) {
	t.Helper()
	want := [][2]uint64{
		{0x3dcccccd, 0x3fd3333333333334}, {0x7fc00000, 0x7ff8000000000000}, {0x7f800000, 0xfff0000000000000},
		{0x80000000, 0x8000000000000000}, {0x00800000, 1}, {uint64(math.Float32bits(16777216)), math.Float64bits(9007199254740992)}, {},
	}
	if b.Rows != len(want) || len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", b.Rows, len(want))
	}
	for i, w := range want {
		if got := [2]uint64{uint64(math.Float32bits(b.Columns[1].F32[i])), math.Float64bits(b.Columns[2].F64[i])}; got != w {
			t.Errorf("row %d: %x, want %x", i+1, got, w)
		}
	}
	if !b.Columns[1].IsNull(6) || !b.Columns[2].IsNull(6) {
		t.Error("row 7 is NULL")
	}
}

func TestFixtureColumns(t *testing.T) {
	s := newServer(t)
	s.load(t, "pg_06_catalog")
	src := s.source(t)
	for _, tc := range []struct {
		table, kind string
		columns     []string
		key         []string
	}{
		{"hz_cat.part", "partitioned table", []string{"id", "d", "v"}, []string{"id", "d"}},
		{"hz_cat.dropped", "table", []string{"a", "c", "b"}, []string{"a"}},
		{"hz_cat.vw", "view", []string{"id", "v"}, nil},
		{"hz_cat.mv", "materialized view", []string{"id", "v"}, nil},
		{`hz_cat."Weird ""T"".name; --"`, "table", []string{"select", "a b", "UPPER", "ümlaut", "dot.ted", `q"q`}, []string{"select"}},
	} {
		table, err := src.Describe(t.Context(), relationOf(tc.table))
		if err != nil {
			t.Fatal(err)
		}
		var columns, key []string
		for _, c := range table.Columns {
			columns = append(columns, c.Name)
		}
		if len(table.Keys) > 0 {
			for _, k := range table.Keys[0].Columns {
				key = append(key, k.Name)
			}
		}
		if table.Kind != tc.kind || !slices.Equal(columns, tc.columns) || !slices.Equal(key, tc.key) {
			t.Errorf("%s is a %s of %q with key %q, want a %s of %q with key %q", tc.table, table.Kind, columns, key, tc.kind, tc.columns, tc.key)
		}
	}
}

func TestFixtureOverrides(t *testing.T) {
	s := newServer(t)
	s.load(t, "pg_02_numeric")
	s.load(t, "pg_03_text_json_arrays")
	for _, tc := range []struct {
		table, column, override string
		want                    []string // of the column, in the order of the key
		refused                 string   // part of the refusal's text
	}{
		{"hz_numeric.unbounded", "n", "string", []string{"1.5", "1.50", "123456789012345678901234567890.123456789", "0.00000000000000000001"}, ""},
		{"hz_numeric.unbounded", "n", "decimal(50,20)", []string{"1.50000000000000000000", "1.50000000000000000000", "123456789012345678901234567890.12345678900000000000", "0.00000000000000000001"}, ""},
		{"hz_numeric.unbounded", "n", "decimal(38,9)", nil, "row 3 of the range: it has more digits before the point"},
		{"hz_numeric.num_nan", "n", "text", []string{"1.25", "NaN"}, ""},
		{"hz_numeric.num_nan", "n", "decimal(12,4)", nil, `where "n" = 'NaN'`},
		{"hz_numeric.fixed", "a", "decimal(10,0)", nil, "row 1 of the range: it has more digits after the point"},
		{"hz_numeric.cash", "m", "decimal(19,2)", []string{"1234.56", "-92233720368547758.08", "0.00"}, ""},
		{"hz_numeric.cash", "m", "text", []string{"1234.56", "-92233720368547758.08", "0.00"}, ""},
		{"hz_numeric.ints", "s", "decimal(5,0)", []string{"-32768", "32767"}, ""},
		{"hz_text.rng", "r", "string", []string{"[1,10)", "empty", "(,6)"}, ""},
		{"hz_text.arr", "z", "text", []string{`{"2024-01-01 00:00:00.000001+00"}`, "{}", "null", "null"}, ""},
		{"hz_text.misc", "c", "text", []string{"ab   ", "     ", "null"}, ""},
	} {
		t.Run(tc.table+" "+tc.column+" as "+tc.override, func(t *testing.T) {
			rel := relationOf(tc.table)
			rel.Overrides = map[string]string{tc.column: tc.override}
			b, err := export(t, s.source(t), rel)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) || !strings.Contains(err.Error(), `"`+tc.column+`"`) {
					t.Fatalf("%v, want a refusal with %s", err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			table, err := s.source(t).Describe(t.Context(), rel)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(table.Columns, func(c rowtype.Column) bool { return c.Name == tc.column })
			for i := range b.Rows {
				got = append(got, printed(&b.Columns[at], i))
			}
			if !slices.Equal(got, tc.want) {
				t.Fatalf("%q, want %q", got, tc.want)
			}
		})
	}
}

// cellText is a cell of a batch in the notation of the expected files.
func cellText(b *rowbatch.Batch, column, row int) string { return printed(&b.Columns[column], row) }
