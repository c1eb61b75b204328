package mysql

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// expectation is a case of a testdata/*.expected.json.
type expectation struct {
	Table    string  `json:"table"`
	Outcome  string  `json:"outcome"`
	Rows     [][]any `json:"rows"`
	RowsHex  [][]any `json:"rows_hex"`
	IfInts   [][]any `json:"if_ints"`
	RowCount int     `json:"row_count"`
}

// load runs a fixture's SQL and returns its cases by table.
func (s *server) load(t *testing.T, name, database string) map[string]expectation {
	t.Helper()
	statements, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, string(statements))
	s.last = append(s.last, "drop database "+database)
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
		cases[c.Table] = c
	}
	return cases
}

func relationOf(table string) source.Relation {
	schema, name, _ := strings.Cut(table, ".")
	return source.Relation{Schema: schema, Name: name}
}

// overridden is a relation with types for some columns.
func overridden(table string, overrides ...string) source.Relation {
	rel := relationOf(table)
	rel.Overrides = map[string]string{}
	for i := 0; i < len(overrides); i += 2 {
		rel.Overrides[overrides[i]] = overrides[i+1]
	}
	return rel
}

// export reads all rows of a relation in one range, as one batch.
func export(t testing.TB, s *Source, rel source.Relation) (*rowbatch.Batch, error) {
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
	b, err := r.Next(t.Context())
	if err == io.EOF {
		return rowbatch.New(table.Columns), nil
	}
	if closeErr := r.Close(t.Context()); closeErr != nil {
		t.Fatal(closeErr)
	}
	return b, err
}

// TestFixtures runs every case of the corpus (TMY-01 to TMY-11, PLN-08, PLN-14).
func TestFixtures(t *testing.T) {
	s := newServer(t)
	for name, database := range map[string]string{"my_01_types": "hz_types", "my_02_keys": "hz_keys"} {
		for table, c := range s.load(t, name, database) {
			t.Run(table, func(t *testing.T) {
				b, err := export(t, s.source(t), relationOf(table))
				switch c.Outcome {
				case "ints_or_refuse":
					sourcetest.WantRefusal(t, err, fault.Refused, failure.Value, "`f`", "row 3", "int16")
					if b, err = export(t, s.source(t), overridden(table, "f", "int16", "b", "int16")); err != nil {
						t.Fatal(err)
					}
					checkRows(t, b, c.IfInts)
				case "null_or_refuse":
					sourcetest.WantRefusal(t, err, fault.Refused, failure.Value, "`d`", "row 2", "dayofmonth")
				case "refuse":
					sourcetest.WantRefusal(t, err, fault.Refused, failure.Value, "`t`", "row 2", "text under columns:")
					if b, err = export(t, s.source(t), overridden(table, "t", "string")); err != nil {
						t.Fatal(err)
					}
					checkRows(t, b, [][]any{{1, "10:00:00.0"}, {2, "838:59:59.0"}, {3, "-01:00:00.0"}})
				case "success_zero_rows":
					if err != nil || b.Rows > 0 {
						t.Fatalf("%d rows, %v", b.Rows, err)
					}
				default:
					if err != nil {
						t.Fatal(err)
					}
					if table == "hz_types.js" { // the file only describes it
						c.Rows = [][]any{{1, `{"b":1,"a":18446744073709551615,"c":"<&>"}`}, {2, "null"}, {3, nil}}
					}
					if len(c.Rows)+len(c.RowsHex) > 0 {
						checkRows(t, b, slices.Concat(c.Rows, c.RowsHex))
					} else if c.RowCount > 0 && b.Rows != c.RowCount {
						t.Fatalf("%d rows, want %d", b.Rows, c.RowCount)
					}
				}
			})
		}
	}
}

func checkRows(t *testing.T, b *rowbatch.Batch, want [][]any) {
	t.Helper()
	if b.Rows != len(want) {
		t.Fatalf("%d rows, want %d", b.Rows, len(want))
	}
	for i, row := range want {
		for c, cell := range row {
			text := fmt.Sprint(cell)
			if cell == nil {
				text = "∅"
			}
			v := &b.Columns[c]
			if v.Type.Kind == rowtype.Bool {
				text = strings.NewReplacer("0", "false", "1", "true").Replace(text)
			}
			if got := printed(v, i); got != text {
				t.Errorf("row %d column %d: %s, want %s", i+1, c+1, got, text)
			}
		}
	}
}

// printed is a cell in the notation of the expected files.
func printed(v *rowbatch.Vector, i int) string {
	if v.IsNull(i) {
		return "∅"
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
	case rowtype.UInt64:
		return fmt.Sprint(v.U64[i])
	case rowtype.Decimal:
		return string(rowbatch.AppendDecimal(nil, v.Slice(i), v.Type.Scale))
	case rowtype.UUID, rowtype.Binary:
		return hex.EncodeToString(v.Slice(i))
	}
	return string(v.Slice(i))
}

func TestColumnsOfTheFixtures(t *testing.T) {
	s := newServer(t)
	s.load(t, "my_01_types", "hz_types")
	src := s.source(t)
	for table, want := range map[string]string{
		"ints":     "int32 int|int16 tinyint|int16 tinyint unsigned|int32 smallint unsigned|int32 mediumint|int64 int unsigned|uint64 bigint unsigned|int64 bigint",
		"tiny1":    "int32 int|bool tinyint(1)|bool tinyint(1)|bool bit(1)",
		"dec_t":    "int32 int|decimal(10,2) decimal(10,2)|decimal(38,10) decimal(38,10)",
		"temporal": "int32 int|date date|timestamp datetime(6)|timestamptz timestamp(6)|time time(6)",
		"yr":       "int32 int|int16 year",
		"txt":      "int32 int|text char|text varchar|text varchar|text varchar",
		"bin_t":    "int32 int|binary binary|binary varbinary|binary blob",
		"en":       "int32 int|enum enum|enum set",
		"js":       "int32 int|json json",
	} {
		described, err := src.Describe(t.Context(), relationOf("hz_types."+table))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range described.Columns {
			got = append(got, c.Type.String()+" "+c.Native)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s is %s, want %s", table, text, want)
		}
	}
}

// Page by page, in the server's order: a key by a collation, an unsigned one, a
// composite one.
func TestKeysOfTheFixturesAreReadInPages(t *testing.T) {
	s := newServer(t)
	s.load(t, "my_02_keys", "hz_keys")
	src := s.source(t)
	for table, rows := range map[string]int{"ci": 9, "bigu": 5, "comp": 5, "two_keys": 3} {
		described, err := src.Describe(t.Context(), relationOf("hz_keys."+table))
		if err != nil {
			t.Fatal(err)
		}
		if table == "two_keys" && described.Keys[0].Name != "a_id" {
			t.Errorf("the preferred key of two is %s", described.Keys[0].Name)
		}
		for size := 1; size <= 4; size++ {
			seen := map[string]int{}
			for after, done := keyspace.Key(nil), false; !done; {
				r, err := src.Read(t.Context(), source.ReadSpec{
					Relation: described.Relation, Columns: described.Columns, Key: described.Keys[0].Columns, Ordered: true, Unique: true, BatchRows: size,
					Range: keyspace.Range{After: after},
				})
				if err != nil {
					t.Fatal(err)
				}
				b, err := r.Next(t.Context())
				if done = err == io.EOF; done {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Rows {
					var cells []string
					for c := range b.Columns {
						cells = append(cells, printed(&b.Columns[c], i))
					}
					seen[strings.Join(cells, "|")]++
				}
				n, at := r.Cut()
				if n != b.Rows {
					t.Fatalf("a page of %d is cut after %d", b.Rows, n)
				}
				after = at
				_ = r.Close(t.Context())
			}
			if len(seen) != rows {
				t.Errorf("%s in pages of %d: %v", table, size, seen)
			}
			for row, n := range seen {
				if n != 1 {
					t.Errorf("%s in pages of %d: row %s comes %d times", table, size, row, n)
				}
			}
		}
	}
}
