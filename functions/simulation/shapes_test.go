package simulation

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// shape is a way in which an export is cut, or a place where it is kept: one
// column of docs/invariants.yaml.
type shape struct {
	name string
	// world makes one with an export of this shape.
	world func(t *testing.T) *world
	// stride is how many calls lie between two crashes that are tried: the
	// cheaper the world, the fewer.
	stride int
	// lose deletes every item of the world's table.
	lose func(w *world)
	// shared is true where the runs of the export share its rows out, by a
	// cursor; elsewhere each run delivers all of them.
	shared bool
}

var modes = []shape{
	{name: "full", stride: 2, lose: (*world).loseTable, world: func(*testing.T) *world {
		w := newWorld(26, 0)
		w.config.Exports[0].Mode, w.config.Exports[0].ChunkColumn, w.config.Exports[0].ChunkSize = "full", "", 0
		w.budget = time.Minute // the only task splits
		w.slow(12 * time.Second)
		return w
	}},
	{name: "chunked", stride: 2, lose: (*world).loseTable, world: func(*testing.T) *world { return newWorld(10, 1) }},
	{name: "keyset", stride: 2, lose: (*world).loseTable, world: func(*testing.T) *world {
		w := newWorld(10, 0)
		w.config.Exports[0].ChunkColumn, w.config.Exports[0].ChunkByKey = "", "id"
		return w
	}},
	{name: "incremental", stride: 2, lose: (*world).loseTable, shared: true, world: func(*testing.T) *world {
		w := newCursorWorld(1, 2, 3, 3, 4, 5, 5, 5)
		w.db.changes.pieces = 3
		return w
	}},
	{name: "time_window", stride: 2, lose: (*world).loseTable, world: func(*testing.T) *world {
		w := newCursorWorld()
		w.db.changes.pieces = 3
		for _, at := range []time.Duration{-72 * time.Hour, -36 * time.Hour, -36 * time.Hour, -24 * time.Hour, -time.Hour, -time.Minute, 0, time.Hour} {
			w.db.changes.add(w.now.Add(at).Unix()) // the first and the last are outside
		}
		e := &w.config.Exports[0]
		e.Mode, e.CursorColumn = exportconfig.TimeWindow, ""
		e.TimeColumn, e.TimeColumnType, e.DaysWindow = "at", "unix", 1
		return w
	}},
}

// rows are what the runs of the world have to deliver by now.
func (s shape) rows(w *world) map[string]int {
	want := make(map[string]int)
	if w.db.changes == nil {
		n, nulls := w.db.extent()
		for i := int64(1); i <= n; i++ {
			want[strconv.FormatInt(i, 10)] = 1
		}
		if nulls > 0 {
			want["null"] = nulls
		}
		return want
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !s.shared { // the days before that of the trigger, and its day so far
		begin := w.trigger(1).ScheduledTime.Time
		from, to = begin.Truncate(24*time.Hour).Add(-24*time.Hour).Unix(), begin.Unix()
	}
	for _, r := range w.db.changes.sorted() {
		if r.at >= from && r.at < to {
			want[strconv.FormatInt(r.id, 10)] = 1
		}
	}
	return want
}

// grow adds rows to the source, which the next run has to deliver.
func (s shape) grow(w *world) {
	switch c := w.db.changes; {
	case c == nil:
		w.db.rows += 3
	case s.shared:
		c.add(5, 6, 7) // one of them has the value that a run may have ended at
	default:
		at := w.trigger(1).ScheduledTime.Add(-2 * time.Hour).Unix()
		c.add(at, at, at+1)
	}
}

// delivered returns an error unless a reader who takes what Success manifests
// list has the rows of the source, each once: those of manifest.json, or of all
// runs together where they share them out.
func (s shape) delivered(w *world, now moment) error {
	if _, fits := now.marked(); !fits {
		return errors.New("the marker does not fit the manifest")
	}
	m, _, err := now.manifest()
	if err != nil {
		return err
	}
	got := now.rows(m)
	if s.shared {
		all, err := now.manifests()
		if err != nil {
			return err
		}
		delete(all, contract.ManifestName) // it is one of the others
		got = make(map[string]int)
		for _, m := range all {
			for row, n := range now.rows(m) {
				got[row] += n
			}
		}
	}
	if want := s.rows(w); !maps.Equal(got, want) {
		return fmt.Errorf("a reader has %v, the source has %v", got, want)
	}
	return nil
}

// places are where an export is kept, on which backend.
var places = []struct {
	name, backend string
	stride        int
}{
	{"local", "localdir and an embedded table", 7},
	{"s3_dynamodb", "S3 and DynamoDB", 11},
}

// everyShape runs a test on every shape: in memory where only the way of cutting
// matters, and on real stores and tables.
func everyShape(t *testing.T, test func(t *testing.T, s shape)) {
	for _, s := range modes {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			for _, b := range backends {
				if b.name != place.backend {
					continue
				}
				store, table := b.store(t), b.table(t)
				test(t, shape{
					name: place.name, stride: place.stride,
					world: func(t *testing.T) *world {
						w := newWorld(10, 1)
						w.bucket = store(t)
						w.table, _ = table(t, w)
						return w
					},
					lose: func(w *world) { w.table, _ = table(t, w) },
				})
				return
			}
			t.Fatalf("no backend is called %q", place.backend)
		})
	}
}

// stories are what happens to the runs of an export. Each is told to its end:
// every run has ended, and the last one has delivered the table.
func (s shape) stories(t *testing.T) []*history {
	all := []*history{s.undisturbed(t), s.twoRuns(t)}
	for n := 1; ; n += s.stride {
		h, died := s.crash(t, n, "continued")
		all = append(all, h)
		if !died {
			break
		}
		for _, next := range []string{"resumed", "followed by another run"} {
			h, _ = s.crash(t, n, next)
			all = append(all, h)
		}
	}
	for step := 0; step < 9; step += s.stride {
		all = append(all, s.overlap(t, step), s.lostTable(t, step))
	}
	return all
}

func (s shape) undisturbed(t *testing.T) *history {
	h := s.record(t, "one run")
	triggerUntilPlanned(t, h.w, 1)
	h.w.settle(t, h.w.runID(1))
	return h.end(t)
}

func (s shape) twoRuns(t *testing.T) *history {
	h := s.record(t, "two runs into one prefix")
	for id := 1; id <= 2; id++ {
		if id == 2 && s.shared {
			s.grow(h.w)
		}
		triggerUntilPlanned(t, h.w, id)
		h.w.settle(t, h.w.runID(id))
	}
	return h.end(t)
}

// crash ends a process in its nth call. The run is then continued by queue and
// sweep, resumed, or followed by another one.
func (s shape) crash(t *testing.T, n int, next string) (h *history, died bool) {
	h = s.record(t, fmt.Sprintf("dead in call %d, %s", n, next))
	w := h.w
	w.death = plan{at: n, landed: n/s.stride%2 == 0}
	_, _ = w.planner(t.Context(), w.trigger(1))
	w.drainUntilDead(t)
	died = w.calls >= n
	run, err := w.table.GetRun(t.Context(), w.runID(1))
	left := err == nil && run.Status != runstate.RunSucceeded
	last := 1
	switch {
	case next == "resumed" && left:
		w.now = w.now.Add(planTimeout)
		w.dropMessages(t)
		resume := wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}
		if _, err := w.planner(t.Context(), resume); err != nil {
			triggerUntilPlanned(t, w, 1) // it never opened the fence, or has ended
		}
	case next == "followed by another run":
		w.now = w.now.Add(planTimeout)
		w.dropMessages(t)
		if s.shared {
			s.grow(w)
		}
		last = 2
		fallthrough
	default:
		triggerUntilPlanned(t, w, last)
	}
	w.settle(t, w.runID(last))
	return h.end(t), died
}

// overlap starts a second run that supersedes the first, after so many
// deliveries; the first one's messages are still there.
func (s shape) overlap(t *testing.T, step int) *history {
	h := s.record(t, fmt.Sprintf("superseded after %d deliveries", step))
	w := h.w
	triggerUntilPlanned(t, w, 1)
	w.deliverSome(t, step)
	if s.shared {
		s.grow(w)
	}
	second := w.trigger(2)
	second.OnConflict = "supersede"
	if _, err := w.planner(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1), w.runID(2))
	return h.end(t)
}

// lostTable deletes everything that is not in the destination, after so many
// deliveries. The next run starts from what the destination says.
func (s shape) lostTable(t *testing.T, step int) *history {
	h := s.record(t, fmt.Sprintf("table lost after %d deliveries", step))
	w := h.w
	triggerUntilPlanned(t, w, 1)
	w.deliverSome(t, step)
	if s.shared {
		s.grow(w)
	}
	s.lose(w)
	w.drainUntilDead(t)
	triggerUntilPlanned(t, w, 2)
	w.settle(t, w.runID(2))
	return h.end(t)
}

// extract delivers chunk messages until none is left, and keeps the finalizer
// away: every task is completed and nothing is published.
func (s shape) extract(t *testing.T, w *world) {
	t.Helper()
	w.deliverChunks(t)
	for _, c := range w.chunks(t, 1) {
		if c.Live() && c.Status != runstate.ChunkCompleted {
			t.Fatalf("task %s is %s: the test no longer tests anything", c.ID, c.Status)
		}
	}
}
