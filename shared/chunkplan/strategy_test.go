package chunkplan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func column(name, native string) keyspace.Column {
	return keyspace.Column{Name: name, Native: native}
}

func unique(columns ...keyspace.Column) UniqueKey {
	return UniqueKey{Name: "u_" + columns[0].Name, Columns: columns}
}

func primary(columns ...keyspace.Column) UniqueKey {
	return UniqueKey{Name: "pk", Primary: true, Columns: columns}
}

// facts describes a table with these keys and, besides theirs, these columns.
func facts(keys []UniqueKey, others ...keyspace.Column) Facts {
	f := Facts{Kind: "table", Keys: keys, KeyColumns: map[string]keyspace.Column{}, Rows: 1_000_000, Bytes: 1 << 32}
	for _, k := range keys {
		others = append(others, k.Columns...)
	}
	for _, c := range others {
		f.KeyColumns[c.Name] = c
		f.Columns = append(f.Columns, rowtype.Column{Name: c.Name, Native: c.Native})
	}
	return f
}

var (
	id     = column("id", "int8")
	tenant = column("tenant", "int4")
	code   = column("code", "text")
	guid   = column("guid", "uuid")
)

func TestChoose(t *testing.T) {
	nullable := keyspace.Column{Name: "n", Native: "int4", Nullable: true}
	for _, tc := range []struct {
		name   string
		export exportconfig.Export
		facts  Facts
		budget Budget

		strategy   string
		key        string
		unique     bool
		splittable bool
		cuts       Cuts
		pieces     int
	}{
		{
			name:   "full in a process of one's own reads all rows in no order",
			export: exportconfig.Export{Mode: Full}, facts: facts([]UniqueKey{primary(id)}),
			strategy: Full, cuts: NoCuts, pieces: 1,
		},
		{
			name:   "full in a function is read by the key, to be split",
			export: exportconfig.Export{Mode: Full}, facts: facts([]UniqueKey{primary(tenant, id)}), budget: Budget{Time: time.Minute},
			strategy: Full, key: "tenant,id", unique: true, splittable: true, cuts: NoCuts, pieces: 1,
		},
		{
			name:   "an unsigned primary key is an integer too",
			export: exportconfig.Export{Mode: Chunked}, facts: facts([]UniqueKey{primary(keyspace.Column{Name: "u", Native: "bigint unsigned"})}),
			strategy: Chunked, key: "u", unique: true, cuts: IntegerBounds, pieces: 1,
		},
		{
			name:   "chunked by itself takes a single integer primary key",
			export: exportconfig.Export{Mode: Chunked}, facts: facts([]UniqueKey{primary(id), unique(code)}),
			strategy: Chunked, key: "id", unique: true, cuts: IntegerBounds, pieces: 1,
		},
		{
			name:   "chunked by itself takes another key whole",
			export: exportconfig.Export{Mode: Chunked}, facts: facts([]UniqueKey{primary(tenant, id), unique(id)}),
			strategy: Keyset, key: "tenant,id", unique: true, cuts: SplitPoints, pieces: 4,
		},
		{
			name:   "chunked by itself without a key is one task",
			export: exportconfig.Export{Mode: Chunked}, facts: facts(nil, code),
			strategy: Full, cuts: NoCuts, pieces: 1,
		},
		{
			name:   "a chunk column need not be unique",
			export: exportconfig.Export{Mode: Chunked, ChunkColumn: "tenant"}, facts: facts([]UniqueKey{primary(tenant, id)}), budget: Budget{Time: time.Minute},
			strategy: Chunked, key: "tenant", splittable: true, cuts: IntegerBounds, pieces: 1,
		},
		{
			name:   "a chunk column may be NULL",
			export: exportconfig.Export{Mode: Chunked, ChunkColumn: "n"}, facts: facts(nil, nullable),
			strategy: Chunked, key: "n", cuts: IntegerBounds, pieces: 1,
		},
		{
			name:   "a key named by its only column",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "code"}, facts: facts([]UniqueKey{primary(id), unique(code)}),
			strategy: Keyset, key: "code", unique: true, cuts: SplitPoints, pieces: 4,
		},
		{
			name:   "a key of the named column alone wins over a composite one before it",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "tenant"}, facts: facts([]UniqueKey{primary(tenant, id), unique(tenant)}),
			strategy: Keyset, key: "tenant", unique: true, cuts: SplitPoints, pieces: 4,
		},
		{
			name:   "a composite key named by its first column is used whole",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "tenant"}, facts: facts([]UniqueKey{primary(tenant, id)}),
			strategy: Keyset, key: "tenant,id", unique: true, cuts: SplitPoints, pieces: 4,
		},
		{
			name:   "rows of a range of a key",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkSize: 30_000}, facts: facts([]UniqueKey{primary(guid)}),
			strategy: Keyset, key: "guid", unique: true, cuts: SplitPoints, pieces: 34,
		},
		{
			name:   "a number of ranges of a key",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkCount: 7}, facts: facts([]UniqueKey{primary(guid)}),
			strategy: Keyset, key: "guid", unique: true, cuts: SplitPoints, pieces: 7,
		},
		{
			name:   "one range of a key needs no split point",
			export: exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkCount: 1}, facts: facts([]UniqueKey{primary(guid)}),
			strategy: Keyset, key: "guid", unique: true, cuts: NoCuts, pieces: 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.export.Name = "orders"
			c, err := Choose(tc.export, tc.facts, tc.budget)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, k := range c.Key {
				names = append(names, k.Name)
			}
			if c.Strategy != tc.strategy || strings.Join(names, ",") != tc.key || c.Unique != tc.unique || c.Splittable != tc.splittable || c.Cuts != tc.cuts || c.Pieces != tc.pieces {
				t.Errorf("got %s by %v, unique %t, splittable %t, %s, %d pieces", c.Strategy, names, c.Unique, c.Splittable, c.Cuts, c.Pieces)
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		export exportconfig.Export
		facts  Facts
		budget Budget
		code   fault.Code
		says   string
	}{
		{"a column in another case", exportconfig.Export{Mode: Chunked, ChunkColumn: "ID"}, facts([]UniqueKey{primary(id)}), Budget{},
			"LAPSTRAKE_PLAN_COLUMN_CASE", "chunk_column names ID, the column is id"},
		{"a key in another case", exportconfig.Export{Mode: Chunked, ChunkByKey: "Id"}, facts([]UniqueKey{primary(id)}), Budget{},
			"LAPSTRAKE_PLAN_COLUMN_CASE", "chunk_by_key names Id, the column is id"},
		{"an override in another case", exportconfig.Export{Mode: Full, Columns: map[string]string{"Code": "json"}}, facts(nil, code), Budget{},
			"LAPSTRAKE_PLAN_COLUMN_CASE", "columns names Code, the column is code"},
		{"a column that is not there", exportconfig.Export{Mode: Chunked, ChunkColumn: "idd"}, facts([]UniqueKey{primary(id)}), Budget{},
			"LAPSTRAKE_PLAN_COLUMN_UNKNOWN", "chunk_column names idd, which is no column"},
		{"a float", exportconfig.Export{Mode: Chunked, ChunkColumn: "k"}, facts(nil, column("k", "float8")), Budget{},
			"LAPSTRAKE_PLAN_KEY_TYPE", "chunk_column k is float8"},
		{"a decimal", exportconfig.Export{Mode: Chunked, ChunkColumn: "k"}, facts(nil, column("k", "numeric(10,2)")), Budget{},
			"LAPSTRAKE_PLAN_KEY_TYPE", "chunk_column k is numeric(10,2)"},
		{"a decimal without a scale", exportconfig.Export{Mode: Chunked, ChunkColumn: "k"}, facts(nil, column("k", "numeric")), Budget{},
			"LAPSTRAKE_PLAN_KEY_TYPE", "chunk_column k is numeric"},
		{"the second column of a key", exportconfig.Export{Mode: Chunked, ChunkByKey: "id"}, facts([]UniqueKey{primary(tenant, id)}), Budget{},
			"LAPSTRAKE_PLAN_KEY_NOT_UNIQUE", "Usable: (tenant, id)"},
		{"a unique key with NULLs, which is no usable one", exportconfig.Export{Mode: Chunked, ChunkByKey: "n"}, facts(nil, keyspace.Column{Name: "n", Native: "int4", Nullable: true}), Budget{},
			"LAPSTRAKE_PLAN_KEY_NOT_UNIQUE", "Usable: none"},
		{"more pages than tasks", exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkSize: 1}, facts([]UniqueKey{primary(guid)}), Budget{},
			CodeTooManyTasks, "1000000 tasks"},
		{"a mode that is not planned", exportconfig.Export{Mode: "cdc"}, facts(nil, code), Budget{},
			"LAPSTRAKE_PLAN_MODE", "cdc"},
		{"one task that cannot end in time", exportconfig.Export{Mode: Full}, facts(nil, code), Budget{Time: time.Minute},
			"LAPSTRAKE_PLAN_TASK_EXCEEDS_BUDGET", "expected to take 3m25s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.export.Name = "orders"
			_, err := Choose(tc.export, tc.facts, tc.budget)
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), `"orders"`) {
				t.Fatalf("got %s: %v", fault.CodeOf(err), err)
			}
			if fault.Retry(err) {
				t.Error("a plan that is refused would be tried again")
			}
		})
	}
}

func TestBudget(t *testing.T) {
	for _, tc := range []struct {
		name   string
		bytes  int64
		budget Budget
		want   string // the code of the refusal or of the warning
	}{
		{"no limit", 1 << 40, Budget{}, ""},
		{"fits in 60 percent", 20 << 20 * 36, Budget{Time: time.Minute}, ""},
		{"a byte more than 60 percent does not", 20<<20*36 + 1, Budget{Time: time.Minute}, "LAPSTRAKE_PLAN_TASK_EXCEEDS_BUDGET"},
		{"a measured throughput decides", 20 << 20 * 36, Budget{Time: time.Minute, BytesPerSecond: 5 << 20}, "LAPSTRAKE_PLAN_TASK_EXCEEDS_BUDGET"},
		{"an unknown size only warns", -1, Budget{Time: time.Minute}, "BUDGET_UNKNOWN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts(nil, code)
			f.Bytes = tc.bytes
			c, err := Choose(exportconfig.Export{Name: "orders", Mode: Full}, f, tc.budget)
			got := string(fault.CodeOf(err))
			if len(c.Diagnostics) > 0 {
				got = c.Diagnostics[0].Code
			}
			if got != tc.want {
				t.Fatalf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

func TestDiagnostics(t *testing.T) {
	nullable := keyspace.Column{Name: "n", Native: "int4", Nullable: true}
	scattered := facts([]UniqueKey{primary(guid)})
	scattered.Bytes = 100_000_000 // 80 rows a page
	scattered.Correlation = map[string]float64{"guid": -0.02}
	falling, half, wide := scattered, scattered, scattered
	falling.Correlation = map[string]float64{"guid": -0.99}
	half.Correlation = map[string]float64{"guid": 0.5}
	wide.Bytes = 8_192_000_000 // a row a page
	unknown := facts([]UniqueKey{primary(guid)})
	unknown.Rows, unknown.Bytes = -1, -1
	together := facts([]UniqueKey{primary(id)})
	together.OneSnapshot = true
	for _, tc := range []struct {
		name   string
		export exportconfig.Export
		facts  Facts
		want   []string
	}{
		{"one task of all rows has nothing to say", exportconfig.Export{Mode: Full}, facts([]UniqueKey{primary(id)}), nil},
		{"chunks see a snapshot each", exportconfig.Export{Mode: Chunked}, facts([]UniqueKey{primary(id)}), []string{"CONSISTENCY_PER_TASK"}},
		{"a key that may be NULL and leads no unique key", exportconfig.Export{Mode: Chunked, ChunkColumn: "n"}, facts(nil, nullable),
			[]string{"CHUNK_KEY_NULLABLE", "CHUNK_COLUMN_LEADS_NO_KEY", "CONSISTENCY_PER_TASK"}},
		{"a key whose order is not that of the disk", exportconfig.Export{Mode: Chunked, ChunkCount: 8}, scattered, []string{"CONSISTENCY_PER_TASK", "KEY_ORDER_REREADS_HEAP"}},
		{"a key whose order is half that of the disk", exportconfig.Export{Mode: Chunked, ChunkCount: 8}, half, []string{"CONSISTENCY_PER_TASK", "KEY_ORDER_REREADS_HEAP"}},
		{"a key that falls on the disk", exportconfig.Export{Mode: Chunked, ChunkCount: 8}, falling, []string{"CONSISTENCY_PER_TASK"}},
		{"a key in no order whose rows have a page each", exportconfig.Export{Mode: Chunked, ChunkCount: 8}, wide, []string{"CONSISTENCY_PER_TASK"}},
		{"a key in no order that is not cut", exportconfig.Export{Mode: Chunked, ChunkCount: 1}, scattered, []string{"CONSISTENCY_PER_TASK"}},
		{"a table without statistics", exportconfig.Export{Mode: Chunked}, unknown, []string{"CONSISTENCY_PER_TASK", "ESTIMATES_UNKNOWN"}},
		{"a table without a key", exportconfig.Export{Mode: Chunked}, facts(nil, code), []string{"CHUNKED_WITHOUT_KEY"}},
		{"tasks that all see one snapshot", exportconfig.Export{Mode: Chunked}, together, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.export.Name = "orders"
			c, err := Choose(tc.export, tc.facts, Budget{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range c.Diagnostics {
				got = append(got, d.Code)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
