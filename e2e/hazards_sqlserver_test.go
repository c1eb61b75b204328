package e2e

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// On the stand-in; no SQL Server was met.
func TestHazardsOfKeysInSQLServer(t *testing.T) {
	d := &standin.Database{Name: "shop", Snapshot: true}
	integer := func(name string, notNull bool) standin.Column {
		return standin.Column{Name: name, Type: tdsfake.Type{Name: "bigint"}, NotNull: notNull}
	}
	id, k, v := integer("id", true), integer("k", false), standin.Column{Name: "v", Type: tdsfake.Type{Name: "nvarchar", Length: 5}}
	of := func(native string) standin.Column {
		return standin.Column{Name: "id", Type: tdsfake.Type{Name: native, Precision: 8, Scale: 2}, NotNull: true}
	}
	d.Create("dbo", "blank", []standin.Column{k, v})
	d.Insert("dbo", "blank", []any{int64(1), "v"}, []any{int64(2), "v"}, []any{int64(3), "v"}, []any{nil, "n1"}, []any{nil, "n2"})
	d.Create("dbo", "real_key", []standin.Column{of("float")}, "id")
	d.Insert("dbo", "real_key", []any{1.0}, []any{1.5}, []any{2.0}, []any{2.25})
	d.Create("dbo", "cent_key", []standin.Column{of("decimal")}, "id")
	d.Insert("dbo", "cent_key", []any{big.NewRat(99, 100)}, []any{big.NewRat(1, 1)}, []any{big.NewRat(101, 100)})
	for name, keys := range map[string][]int64{"far": {1, 2, 3, 3900000000000000000}, "ends": {-1 << 63, -1, 0, 1<<63 - 1}, "nothing": nil, "single": {42}, "around": {-3, -2, -1, 0, 1, 2, 3}} {
		d.Create("dbo", name, []standin.Column{id}, "id")
		for _, key := range keys {
			d.Insert("dbo", name, []any{key})
		}
	}
	guids := []string{"ffffffff-0000-0000-0000-000000000001", "00000000-0001-0000-0000-000000000001", "00000000-0000-0001-0000-000000000001", "00000000-0000-0000-0000-000000000002", "6f9619ff-8b86-d011-b42d-00c04fc964ff"}
	d.Create("dbo", "guids", []standin.Column{of("uniqueidentifier")}, "id")
	for _, text := range guids {
		raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		if err != nil {
			t.Fatal(err)
		}
		d.Insert("dbo", "guids", []any{[16]byte(raw)})
	}
	shop := integer("shop", true)
	d.Create("dbo", "pair", []standin.Column{shop, id}, "shop", "id")
	for _, row := range [][2]int64{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 1}, {3, 1}} {
		d.Insert("dbo", "pair", []any{row[0], row[1]})
	}
	d.Create("dbo", "heap", []standin.Column{k, v})
	d.Insert("dbo", "heap", []any{int64(1), "x"}, []any{int64(1), "x"}, []any{int64(2), "y"})
	d.Create("dbo", "days", []standin.Column{id, {Name: "at", Type: tdsfake.Type{Name: "datetime"}, NotNull: true}}, "id")
	for i, at := range []string{"2024-02-03T00:00:00Z", "2024-03-02T00:00:00Z", "2024-03-03T23:59:59.997Z", "2024-03-03T23:59:59.997Z"} {
		moment, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			t.Fatal(err)
		}
		d.Insert("dbo", "days", []any{int64(i), moment})
	}
	s, err := standin.Serve(d, tdsfake.Options{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	byKey := []string{"mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: chunked, chunk_size: SIZE"}
	reals, cents := []string{"1", "1.5", "2", "2.25"}, []string{"0.99", "1.00", "1.01"}
	runHazards(t, "type: mssql", "sqlserver://sa:secret@"+s.Address()+"/shop", []hazard{
		{"PLN-01 rows whose key is NULL", "table: dbo.blank", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE"}, []string{"1|v", "2|v", "3|v", "|n1", "|n2"}},
		{"PLN-02 a float as key", "table: dbo.real_key", append(byKey, "mode: chunked, chunk_column: id, chunk_size: SIZE -> "+fractionalKey), reals},
		{"PLN-02 a decimal as key", "table: dbo.cent_key", append(byKey, "mode: chunked, chunk_column: id, chunk_size: SIZE -> "+fractionalKey), cents},
		{"PLN-03 a key with a gap", "table: dbo.far", []string{"mode: chunked, chunk_size: SIZE -> " + tooManyTasks, byKey[0]}, []string{"1", "2", "3", "3900000000000000000"}},
		{"PLN-03 a key from the least to the greatest number", "table: dbo.ends", []string{"mode: chunked, chunk_count: SIZE", byKey[0], "mode: incremental, cursor_column: id"}, []string{"-9223372036854775808", "-1", "0", "9223372036854775807"}},
		{"PLN-04 an empty table", "table: dbo.nothing", everyKey, nil},
		{"PLN-05 one row", "table: dbo.single", everyKey, []string{"42"}},
		{"PLN-06 keys around 0", "table: dbo.around", everyKey, numbered(-3, 3)},
		{"PLN-09 a uniqueidentifier as key", "table: dbo.guids", byKey, guids},
		{"PLN-12 a key of two columns", "table: dbo.pair", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_by_key: shop, chunk_size: SIZE", "mode: incremental, cursor_column: id"}, []string{"1|1", "1|2", "1|3", "1|4", "1|5", "2|1", "3|1"}},
		{"PLN-15 no key", "table: dbo.heap", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: k"}, []string{"1|x", "1|x", "2|y"}},
		{"PLN-24 the newest row, at .997", "table: dbo.days", []string{"mode: incremental, cursor_column: at"},
			[]string{"0|2024-02-03T00:00:00.000000", "1|2024-03-02T00:00:00.000000", "2|2024-03-03T23:59:59.996667", "3|2024-03-03T23:59:59.996667"}},
	})
}
