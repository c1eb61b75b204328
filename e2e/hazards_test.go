package e2e

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/prove"
	statememory "github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// hazard is a small table that has led tools of this kind astray, and the ways
// of cutting it. The name begins with the id in docs/hazards.md.
type hazard struct {
	name string
	from string // table: or query:
	// cuts are keys of an export; SIZE in them stands for each of hazardSizes.
	// One that the plan has to refuse ends with " -> " and the code.
	cuts []string
	// rows are the rows of the table, cells joined by |, in no order. A NULL is
	// empty.
	rows []string
}

// hazardSizes are the sizes of a chunk and of a batch, each with a number of
// workers.
var hazardSizes = []struct{ size, workers int }{{1, 1}, {1, 4}, {2, 4}, {3, 1}, {40, 4}}

// everyKey cuts a table with an integer primary key in every way.
var everyKey = []string{
	"mode: full", "mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_count: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id",
	"mode: chunked, chunk_by_key: id, keyset_incremental: true",
}

// runHazards runs every cut of every hazard with chunks and batches of every
// size, with one worker and with several, every message delivered twice, and
// compares what the manifests list. sourceKeys are those of the config's source.
func runHazards(t *testing.T, sourceKeys, url string, hazards []hazard) {
	t.Helper()
	t.Setenv("DATABASE_URL", url)
	type trial struct {
		hazard, cut string
		rows        []string
		code        string
		size        int
		workers     int
	}
	var trials []trial
	config := "source: { " + sourceKeys + ", url_env: DATABASE_URL }\nexports:\n"
	for _, h := range hazards {
		for _, cut := range h.cuts {
			keys, code, _ := strings.Cut(cut, " -> ")
			for _, n := range hazardSizes {
				config += fmt.Sprintf("  - { name: h%d, %s, %s, format: csv, tuning: { batch_size: %d, max_retries: 0 }, destination: { type: local, path: \"out/{export}\" } }\n",
					len(trials), h.from, strings.ReplaceAll(keys, "SIZE", strconv.Itoa(n.size)), n.size)
				trials = append(trials, trial{h.name, keys, h.rows, code, n.size, n.workers})
			}
		}
	}
	d := newDesk(t)
	local := inProcess(t, d, config)
	stores := make(folders)
	local.State, local.Destinations = statememory.New(), stores
	local.Queue = func(q taskqueue.Queue) taskqueue.Queue { return twice{q, new(atomic.Int64)} }
	for i, x := range trials {
		t.Run(fmt.Sprintf("%s/%s/size %d, %d workers", x.hazard, x.cut, x.size, x.workers), func(t *testing.T) {
			e := local.Config.Exports[i]
			store := stores.of(e.Destination)
			run, err := runExport(t, local, e, x.workers)
			get := func(key string) []byte {
				body, _, err := store.Get(t.Context(), key, 1<<20)
				if err != nil && !errors.Is(err, destination.ErrNotFound) {
					t.Fatal(err)
				}
				return body
			}
			if x.code != "" {
				if string(fault.CodeOf(err)) != x.code {
					t.Fatalf("%v, want %s", err, x.code)
				}
				if get(contract.ManifestName) != nil || get(contract.SuccessName) != nil {
					t.Error("a refused run is published")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p := published(t, get)
			if p.manifest.RunID != run {
				t.Errorf("published is %s, not %s", p.manifest.RunID, run)
			}
			sameRows(t, x.rows, csvRows(t, p))
			if r, err := prove.Prove(t.Context(), store, prove.Options{Export: contract.ExportName(e.Name), Deep: true}); err != nil || !r.Proven {
				t.Errorf("not proven: %+v, %v", r, err)
			}
		})
	}
}

// folders are destinations in memory; of makes one, before workers open it.
type folders map[string]*destmemory.Store

func (f folders) of(at wire.Location) *destmemory.Store {
	if f[at.URI] == nil {
		f[at.URI] = destmemory.New(at.URI, destmemory.LikeS3)
	}
	return f[at.URI]
}

// Open implements [destination.Opener].
func (f folders) Open(_ context.Context, at wire.Location) (destination.Store, error) {
	return f.of(at), nil
}

// csvRows are the rows of the parts of a publication, cells joined by |.
func csvRows(t *testing.T, p publication) (rows []string) {
	t.Helper()
	for _, name := range p.files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines[1:] {
			rows = append(rows, strings.Join(line, "|"))
		}
	}
	return rows
}

// numbered are numbers as rows of one column.
func numbered(from, to int) (rows []string) {
	for i := from; i <= to; i++ {
		rows = append(rows, strconv.Itoa(i))
	}
	return rows
}
