package schedule

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/destination"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// topology is what a simulation is about: the export, its table and the store.
type topology struct {
	name   string
	export exportconfig.Export
	rows   int    // with a key, at the start
	nulls  int    // rows whose key is NULL
	keyed  bool   // the table has a primary key
	cursor string // "" in modes without a window; see [relation]
	fanin  int    // tasks in a shard
	like   destination.Capabilities
	budget time.Duration // of one chunk invocation; 0 is no limit
	batch  int           // rows
}

// shape is one kind of topology. A mode is added by a line here, and by what
// rows_test.go answers for it.
type shape struct {
	name string
	make func(t *topology, rng *rand.Rand)
}

var shapes = []shape{
	{"full", func(t *topology, rng *rand.Rand) {
		t.export.Mode = "full"
		t.keyed = rng.IntN(2) == 0
	}},
	{"chunked", chunked},
	{"chunked", chunked},
	{"keyset", func(t *topology, rng *rand.Rand) {
		t.export.Mode, t.export.ChunkByKey, t.export.ChunkCount = "chunked", "id", 1+rng.IntN(5)
		t.keyed = true
	}},
	{"NULL keys", func(t *topology, rng *rand.Rand) {
		chunked(t, rng)
		t.keyed, t.nulls = false, 1+rng.IntN(3)
	}},
	{"splits", func(t *topology, rng *rand.Rand) {
		chunked(t, rng)
		t.keyed, t.export.ChunkSize = true, 8
		t.rows, t.batch, t.budget = 6+rng.IntN(8), 2, time.Minute
	}},
	{"empty", func(t *topology, rng *rand.Rand) {
		chunked(t, rng)
		t.rows = 0
		t.export.SkipEmpty = rng.IntN(2) == 0
	}},
	{"many parts", func(t *topology, rng *rand.Rand) {
		chunked(t, rng)
		t.export.PartBytes, t.batch = 1, 2
	}},
	{"incremental", incremental},
	{"incremental that splits", func(t *topology, rng *rand.Rand) {
		incremental(t, rng)
		t.rows, t.batch, t.budget = 6+rng.IntN(8), 2, time.Minute
	}},
	{"incremental without a key", func(t *topology, rng *rand.Rand) {
		incremental(t, rng)
		t.keyed = false
	}},
	{"keyset_incremental", func(t *topology, rng *rand.Rand) {
		t.export.Mode, t.export.ChunkByKey, t.export.ChunkCount, t.export.KeysetIncremental = "chunked", "id", 1+rng.IntN(4), true
		t.keyed, t.cursor = true, "id"
	}},
	{"time_window", func(t *topology, rng *rand.Rand) {
		incremental(t, rng)
		t.export.Mode, t.export.CursorColumn = exportconfig.TimeWindow, ""
		t.export.TimeColumn, t.export.TimeColumnType, t.export.DaysWindow = "at", "unix", rng.IntN(2)
		t.cursor = "time"
	}},
}

func incremental(t *topology, rng *rand.Rand) {
	t.export.Mode, t.export.CursorColumn, t.export.ChunkCount = exportconfig.Incremental, "at", 1+rng.IntN(4)
	t.export.SkipEmpty = rng.IntN(3) == 0
	t.keyed, t.cursor = true, "at"
}

func chunked(t *topology, rng *rand.Rand) {
	t.export.Mode, t.export.ChunkColumn, t.export.ChunkSize = "chunked", "id", int64(2+rng.IntN(3))
	t.keyed = rng.IntN(3) > 0
}

// draw makes the topology of a seed: at most six chunks.
func draw(seed int, rng *rand.Rand) topology {
	t := topology{
		export: exportconfig.Export{
			Name: "orders", Table: "orders", ChunkMaxAttempts: 1 + rng.IntN(4), Parallel: 1, Format: "csv", Compression: "none",
			Verify: []string{"size", "content"}[rng.IntN(2)], PartBytes: 128 << 20, MaxValueBytes: 1 << 20, RetryBackoffMillis: 1000,
			Destination:    wire.Location{Kind: "memory", URI: "memory://bucket"},
			PrefixTemplate: []string{"out/", "out/", "{run_id}/"}[rng.IntN(3)], OnConflict: "reject", IfSuccess: "new_run",
		},
		rows: 1 + rng.IntN(10), fanin: 1 + rng.IntN(4), batch: 3,
		like: []destination.Capabilities{destmemory.LikeS3, destmemory.LikeGCS}[rng.IntN(2)],
	}
	s := shapes[rng.IntN(len(shapes))]
	t.name = s.name
	s.make(&t, rng)
	if seed%100 == 0 {
		t.export.Format = "parquet"
	}
	return t
}

// prefix returns where the run writes.
func (t topology) prefix(run string) string {
	return strings.ReplaceAll(t.export.PrefixTemplate, "{run_id}", run)
}
