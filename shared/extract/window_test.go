package extract

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
)

// edge is a source all of whose rows lie at the end of the window, by keys of so
// many bytes.
type edge struct {
	src
	bytes int
	spec  *source.ReadSpec
}

func (e edge) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	if e.spec != nil {
		*e.spec = spec
	}
	r, err := e.src.Read(ctx, spec)
	return edgeReader{r, e}, err
}

type edgeReader struct {
	source.Reader
	edge edge
}

func (r edgeReader) Edge(n int) (e source.Edge) {
	for _, key := range r.edge.out.Columns[0].I64[:n] {
		text := strconv.FormatInt(key, 10)
		e.AtTo = append(e.AtTo, keyspace.Key{strings.Repeat("0", max(r.edge.bytes-len(text), 0)) + text})
	}
	return e
}

func windowed(n, bytes int, spec *source.ReadSpec) Job {
	r := &rows{n: n, group: 1, batch: 100}
	j := job(r, memory.New("memory://b", memory.LikeS3), 1<<20)
	j.Plan.Within = &keyspace.Window{Cursor: keyspace.Column{Name: "at"}, To: "7", Key: j.Plan.Key}
	j.Source = edge{src{rows: r}, bytes, spec}
	return j
}

// The keys at the end of a window are kept with the task as long as an item and
// a position can hold them; a task with more fails for good.
func TestKeysAtTheEndOfAWindowAreBounded(t *testing.T) {
	for _, tc := range []struct {
		name     string
		n, bytes int
		want     fault.Code
	}{
		{name: "as many as can be kept", n: contract.MaxDeliveredKeys, bytes: 5},
		{name: "a key too many", n: contract.MaxDeliveredKeys + 1, bytes: 5, want: "LAPSTRAKE_RUN_CURSOR_TIES_GREW"},
		{name: "as long as can be kept", n: 64, bytes: runstate.MaxHiKeyBytes / 64},
		{name: "too long", n: 65, bytes: runstate.MaxHiKeyBytes / 64, want: "LAPSTRAKE_RUN_CURSOR_TIES_GREW"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := Run(t.Context(), windowed(tc.n, tc.bytes, nil))
			if fault.CodeOf(err) != tc.want || err != nil && fault.Retry(err) {
				t.Fatalf("%v", err)
			}
			if err == nil && len(out.Result.HiKeys) != tc.n {
				t.Fatalf("%d keys", len(out.Result.HiKeys))
			}
		})
	}
}

// A task that does another one again reads at the end of the window just what
// that one has delivered there, where a key can tell.
func TestRepairReadsItsOriginalsRowsOnly(t *testing.T) {
	original := &runstate.Chunk{Result: runstate.Result{HiKeys: [][]string{{"1"}, {"2"}}}}
	for _, tc := range []struct {
		name    string
		repairs *runstate.Chunk
		change  func(w *keyspace.Window)
		want    []keyspace.Key // nil is all
	}{
		{name: "a first task"},
		{name: "a repair", repairs: original, want: []keyspace.Key{{"1"}, {"2"}}},
		{name: "a repair of a task that delivered nothing there", repairs: &runstate.Chunk{}, want: []keyspace.Key{}},
		{name: "a repair without a key", repairs: original, change: func(w *keyspace.Window) { w.Key = nil }},
		{name: "a repair of a window without its end", repairs: original, change: func(w *keyspace.Window) { w.ToExcluded = true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var spec source.ReadSpec
			j := windowed(1, 1, &spec)
			j.Repairs = tc.repairs
			if tc.change != nil {
				tc.change(j.Plan.Within)
			}
			if _, err := Run(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			if w := spec.Window; w.OnlyAtTo != (tc.want != nil) || cmp.Diff(tc.want, append([]keyspace.Key{}, w.Only...)) != "" && tc.want != nil {
				t.Errorf("only %v at the end (%t), want %v", w.Only, w.OnlyAtTo, tc.want)
			}
			if j.Plan.Within.OnlyAtTo {
				t.Error("the plan has changed")
			}
		})
	}
}
