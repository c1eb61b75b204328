package chunkplan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

func choose(t testing.TB, e exportconfig.Export, f Facts, b Budget) Choice {
	t.Helper()
	e.Name = "orders"
	c, err := Choose(e, f, b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTasksHoldEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nullable := rapid.Bool().Draw(rt, "nullable")
		f := facts(nil, keyspace.Column{Name: "k", Native: "int8", Nullable: nullable})
		f.Rows, f.Bytes = rapid.Int64Range(-1, 1e12).Draw(rt, "rows"), rapid.Int64Range(-1, 1<<50).Draw(rt, "bytes")
		e := exportconfig.Export{Mode: Chunked, ChunkColumn: "k", Parallel: rapid.IntRange(1, 8).Draw(rt, "parallel")}
		switch rapid.IntRange(0, 3).Draw(rt, "size") {
		case 0:
			e.ChunkSize = rapid.Int64Range(1, 1<<62).Draw(rt, "chunk_size")
		case 1:
			e.ChunkCount = rapid.IntRange(1, 200).Draw(rt, "chunk_count")
		case 2:
			e.ChunkBytes = rapid.Int64Range(1<<20, 1<<40).Draw(rt, "chunk_bytes")
		}
		c := choose(t, e, f, Budget{})
		lo, hi := rapid.Int64().Draw(rt, "a"), rapid.Int64().Draw(rt, "b")
		b := Bounds{Min: min(lo, hi), Max: max(lo, hi), Empty: rapid.IntRange(0, 9).Draw(rt, "empty") == 0}
		tasks, _, err := c.Tasks(b, nil)
		if err != nil {
			if fault.CodeOf(err) != CodeTooManyTasks {
				rt.Fatal(err)
			}
			if e.ChunkSize == 0 && e.ChunkBytes == 0 {
				rt.Fatalf("a size that the planner chose is refused: %v", err)
			}
			return
		}
		if limit := TargetTasks; e.ChunkSize == 0 && e.ChunkCount == 0 && e.ChunkBytes == 0 && len(tasks) > limit+1 {
			rt.Fatalf("%d tasks", len(tasks))
		}
		keys := []*int64{nil}
		for _, k := range append(rapid.SliceOfN(rapid.Int64(), 1, 8).Draw(rt, "keys"), b.Min, b.Max) {
			keys = append(keys, &k)
		}
		for _, k := range keys {
			in := 0
			for _, r := range tasks {
				if holds(rt, r, k) {
					in++
				}
			}
			switch {
			case k == nil && !nullable: // such a row cannot be
			case in != 1:
				rt.Fatalf("a row is in %d of %d tasks", in, len(tasks))
			}
		}
		if nullable != tasks[len(tasks)-1].Null {
			rt.Fatalf("nullable %t, the last task is %s", nullable, tasks[len(tasks)-1])
		}
	})
}

func TestPointTasksHoldEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := facts([]UniqueKey{primary(tenant, code)})
		points := rapid.SliceOf(rapid.Custom(func(t *rapid.T) keyspace.Key {
			return keyspace.Key{rapid.SampledFrom([]string{"1", "2"}).Draw(t, "tenant"), rapid.String().Draw(t, "code")}
		})).Draw(rt, "points")
		seen := map[string]bool{}
		var distinct []keyspace.Key
		for _, p := range points {
			if id := p[0] + "\x00" + p[1]; !seen[id] {
				seen[id] = true
				distinct = append(distinct, p)
			}
		}
		c := choose(t, exportconfig.Export{Mode: Chunked, ChunkCount: 9}, f, Budget{})
		tasks, _, err := c.Tasks(Bounds{}, distinct)
		if err != nil {
			rt.Fatal(err)
		}
		if len(tasks) != len(distinct)+1 {
			rt.Fatalf("%d tasks of %d points", len(tasks), len(distinct))
		}
		if err := keyspace.Tiles(keyspace.Range{}, tasks); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestTasks(t *testing.T) {
	keyset := exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkCount: 4}
	for _, tc := range []struct {
		name   string
		choice Choice
		bounds Bounds
		points []keyspace.Key
		want   string
	}{
		{"full", choose(t, exportconfig.Export{Mode: Full}, facts([]UniqueKey{primary(id)}), Budget{}), Bounds{}, nil, "all rows"},
		{"full that may be split is an open range", choose(t, exportconfig.Export{Mode: Full}, facts([]UniqueKey{primary(id)}), Budget{Time: 1e9}), Bounds{}, nil, "(-∞, +∞)"},
		{"an empty table is one open range", choose(t, exportconfig.Export{Mode: Chunked}, facts([]UniqueKey{primary(id)}), Budget{}), Bounds{Empty: true}, nil, "(-∞, +∞)"},
		{"chunk_count", choose(t, exportconfig.Export{Mode: Chunked, ChunkCount: 3}, facts([]UniqueKey{primary(id)}), Budget{}), Bounds{Min: 1, Max: 10}, nil, "(-∞, 4] (4, 8] (8, +∞)"},
		{"chunk_size", choose(t, exportconfig.Export{Mode: Chunked, ChunkSize: 4}, facts([]UniqueKey{primary(id)}), Budget{}), Bounds{Min: -7, Max: 7}, nil, "(-∞, -4] (-4, 0] (0, 4] (4, +∞)"},
		{"points", choose(t, keyset, facts([]UniqueKey{primary(guid)}), Budget{}), Bounds{}, []keyspace.Key{{"b"}, {"a"}}, "(-∞, b] (b, a] (a, +∞)"},
		{"a point that follows itself", choose(t, keyset, facts([]UniqueKey{primary(guid)}), Budget{}), Bounds{}, []keyspace.Key{{"b"}, {"b"}}, "(-∞, b] (b, +∞)"},
		{"a point that is too long for a bound (QUE-22)", choose(t, keyset, facts([]UniqueKey{primary(guid)}), Budget{}), Bounds{}, []keyspace.Key{{"a"}, {strings.Repeat("b", 5000)}, {"c"}}, "(-∞, a] (a, c] (c, +∞)"},
		{"no points", choose(t, keyset, facts([]UniqueKey{primary(guid)}), Budget{}), Bounds{}, nil, "(-∞, +∞)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tasks, _, err := tc.choice.Tasks(tc.bounds, tc.points)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range tasks {
				got = append(got, r.String())
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
		})
	}
}

func TestTasksRefuse(t *testing.T) {
	keyset := choose(t, exportconfig.Export{Mode: Chunked, ChunkByKey: "guid", ChunkCount: 4}, facts([]UniqueKey{primary(guid)}), Budget{})
	sparse := choose(t, exportconfig.Export{Mode: Chunked, ChunkSize: 1000}, facts([]UniqueKey{primary(id)}), Budget{})
	for _, tc := range []struct {
		name   string
		choice Choice
		bounds Bounds
		points []keyspace.Key
		code   fault.Code
		says   string
	}{
		{"a sparse key, naming span, estimate and way out", sparse, Bounds{Min: 1, Max: 4e18}, nil, CodeTooManyTasks,
			"from 1 to 4000000000000000000: in ranges of 1000 that is more than 50000 tasks (about 1000000 rows by the source's statistics); nothing was read. Use a larger chunk_size, chunk_count, or chunk_by_key"},
		{"points that come back", keyset, Bounds{}, []keyspace.Key{{"a"}, {"b"}, {"a"}}, "LAPSTRAKE_INTERNAL_PLAN_NOT_TILED", "do not hold every key once"},
		{"a point of another key", keyset, Bounds{}, []keyspace.Key{{"a", "b"}}, "LAPSTRAKE_INTERNAL_SPLIT_POINT", "2 values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tasks, _, err := tc.choice.Tasks(tc.bounds, tc.points)
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || tasks != nil {
				t.Fatalf("got %s: %v", fault.CodeOf(err), err)
			}
		})
	}
}

func TestSparseKeysAreWarnedOf(t *testing.T) {
	f := facts([]UniqueKey{primary(id)})
	f.Rows = 100
	c := choose(t, exportconfig.Export{Mode: Chunked, ChunkSize: 100}, f, Budget{})
	for _, tc := range []struct {
		last int64
		want int
	}{{6_300, 0}, {6_400, 1}} {
		_, warnings, err := c.Tasks(Bounds{Min: 1, Max: tc.last}, nil)
		if err != nil || len(warnings) != tc.want {
			t.Errorf("keys to %d: %v, %v", tc.last, warnings, err)
		}
	}
}

func TestSizeOfTasks(t *testing.T) {
	const wide = 1_000_000_000
	for _, tc := range []struct {
		name        string
		export      exportconfig.Export
		rows, bytes int64
		want        int // tasks of the keys 1 to wide
	}{
		{"a GiB by statistics", exportconfig.Export{}, 1e6, 1 << 32, 4},
		{"100,000 rows when only rows are known", exportconfig.Export{}, 1e6, -1, 10},
		{"100,000 keys when nothing is known", exportconfig.Export{}, -1, -1, 10_000},
		{"at most 10,000 tasks", exportconfig.Export{}, 1e12, 1 << 50, 10_000},
		{"a task for every worker", exportconfig.Export{Parallel: 8}, 1e6, 1 << 28, 8},
		{"but none below 16 MiB", exportconfig.Export{Parallel: 8}, 1e6, 3 << 24, 3},
		{"chunk_size_memory_mb by the width of a row", exportconfig.Export{ChunkBytes: 16 << 20}, 1 << 20, 1 << 30, 64},
		{"chunk_size_memory_mb is at least 10,000 rows", exportconfig.Export{ChunkBytes: 1 << 20}, 1e6, 1 << 33, 100},
		{"chunk_size_memory_mb is at most 5,000,000 rows", exportconfig.Export{ChunkBytes: 1 << 40}, 1e7, 1 << 30, 2},
		{"chunk_size_memory_mb without statistics", exportconfig.Export{ChunkBytes: 1 << 30}, 1e6, -1, 10},
		{"chunk_count", exportconfig.Export{ChunkCount: 3}, 1e6, 1 << 30, 3},
		{"chunk_size", exportconfig.Export{ChunkSize: wide / 5}, 1e6, 1 << 30, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := facts([]UniqueKey{primary(id)})
			f.Rows, f.Bytes = tc.rows, tc.bytes
			tc.export.Mode = Chunked
			tasks, _, err := choose(t, tc.export, f, Budget{}).Tasks(Bounds{Min: 1, Max: wide}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(tasks) != tc.want {
				t.Errorf("%d tasks, want %d", len(tasks), tc.want)
			}
		})
	}
}
