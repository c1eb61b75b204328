package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	destmemory "github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// scope is a small world, of which every schedule is visited: how it was before,
// and what may happen from then on.
type scope struct {
	name string
	// rows of the table, one a chunk.
	rows int
	with func(t *topology)
	// before brings the world to where the exploration begins.
	before func(s *simulation)
	// scripts are lists of decisions, each taken in its order: everything that
	// happens beside the calls of processes.
	scripts [][]decision
	fates   []fate // that one call of a schedule may have
	// bound is how many preemptions a schedule has, deep the same for
	// make explore.
	bound, deep int
}

func (c scope) topology() topology {
	t := topology{
		name: c.name,
		export: exportconfig.Export{
			Name: "orders", Table: "orders", Mode: "chunked", ChunkColumn: "id", ChunkSize: 1, ChunkMaxAttempts: 3, Parallel: 1, Format: "csv", Compression: "none",
			Verify: "size", PartBytes: 128 << 20, MaxValueBytes: 1 << 20, RetryBackoffMillis: 1000,
			Destination: wire.Location{Kind: "memory", URI: "memory://bucket"}, PrefixTemplate: "out/", OnConflict: "reject", IfSuccess: "new_run",
		},
		rows: c.rows, keyed: true, fanin: 2, batch: 3, like: destmemory.LikeS3,
	}
	if c.with != nil {
		c.with(&t)
	}
	return t
}

// begin makes the world of a scope.
func (c scope) begin(t *testing.T) *simulation {
	s := newWorld(t.Context(), c.topology())
	c.before(s)
	if s.check.broken != nil {
		t.Fatalf("%s, before it begins: %v", c.name, s.check.broken)
	}
	clear(s.asleep)
	s.decisions, s.calls = nil, 0
	return s
}

// calmly takes decisions in a world that has not begun yet; whoever is started
// comes to its end before the next one, but for those that sleep. Nobody waits
// for a turn.
func (s *simulation) calmly(all ...decision) {
	s.direct = func(p *process, c call) error {
		c.p = p
		return c.meet(proceeds)
	}
	defer func() { s.direct = nil }()
	for _, d := range all {
		if d.who = s.born + 1; !s.apply(d) {
			panic("does not apply: " + d.String())
		}
	}
}

// upTo starts a process and grants its calls up to one that begins with op. In
// front of that it sleeps, or, if there is a fate, meets it.
func (s *simulation) upTo(d decision, op string, f fate) {
	if d.who = s.born + 1; !s.apply(d) {
		panic("does not apply: " + d.String())
	}
	for {
		i := slices.IndexFunc(s.waiting, func(c *call) bool { return c.p.id == d.who })
		if i < 0 {
			panic("no call " + op)
		}
		next := decision{act: grant, who: d.who, what: s.waiting[i].op}
		switch {
		case !strings.HasPrefix(next.what, op):
			s.apply(next)
		case f == proceeds:
			s.asleep[d.who] = true
			return
		default:
			next.fate = f
			s.apply(next)
			return
		}
	}
}

var (
	anyFault = []fate{diesBefore, diesAfter, ackLost}
	later    = decision{act: wait, skew: planTimeout} // every lease has run out
	leaseOut = decision{act: wait, skew: chunkLease + time.Minute}
)

func deliverChunk(run, task int, g contract.Generation) decision {
	return decision{act: deliver, what: chunkOf(run, string(contract.BaseTaskID(task)), g)}
}

func deliverFinalize(run int, g contract.Generation) decision {
	return decision{act: deliver, what: finalizeOf(run, g)}
}

// planned is a run with its tasks in the table and their messages on the way.
func planned(s *simulation) { s.calmly(decision{act: trigger, n: 1}) }

// extracted is a run whose tasks are completed and whose finalizer was sent for.
func extracted(s *simulation) {
	planned(s)
	for i := range s.top.rows {
		s.calmly(deliverChunk(1, i, 1))
	}
}

func splits(t *topology) {
	t.export.ChunkSize, t.batch, t.budget = 5, 1, time.Minute
}

var scopes = []scope{
	{
		name: "two overlapping runs, the second one is refused", rows: 1, before: extracted, fates: anyFault, bound: 1, deep: 2,
		scripts: [][]decision{{deliverFinalize(1, 1)}, {deliverFinalize(1, 1)}, {{act: trigger, n: 2}, deliverChunk(2, 0, 2), deliverFinalize(2, 2)}, {deliverFinalize(2, 2)}},
	},
	{
		name: "two overlapping runs, the second one supersedes", rows: 1, before: extracted, fates: anyFault, bound: 1, deep: 2,
		scripts: [][]decision{{deliverFinalize(1, 1)}, {deliverFinalize(1, 1)}, {{act: supersede, n: 2}, deliverChunk(2, 0, 2), deliverFinalize(2, 2)}, {deliverFinalize(2, 2)}},
	},
	{
		name: "the sealed publication of three runs", rows: 1, before: extracted, fates: anyFault, bound: 1, deep: 2,
		scripts: [][]decision{{deliverFinalize(1, 1)}, {{act: supersede, n: 2}}, {{act: supersede, n: 3}}},
	},
	{
		name: "a run that has committed, two planners of the next one", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			extracted(s)
			s.upTo(deliverFinalize(1, 1), "create out/manifest-", diesAfter)
		},
		scripts: [][]decision{{{act: supersede, n: 2}}, {{act: supersede, n: 2}, deliverChunk(2, 0, 2), deliverFinalize(2, 2)}},
	},
	{
		name: "a row that comes late to the last value of a window, and a successor", rows: 1, before: planned, fates: anyFault, bound: 1, deep: 2,
		with: func(t *topology) {
			t.export.Mode, t.export.CursorColumn, t.export.ChunkCount, t.cursor = exportconfig.Incremental, "at", 1, "at"
		},
		scripts: [][]decision{{deliverChunk(1, 0, 1), deliverFinalize(1, 1)}, {{act: insertRow, n: 2}, {act: supersede, n: 2}, deliverChunk(2, 0, 2), deliverFinalize(2, 2)}},
	},
	{
		name: "an older fence document under a sleeping resume, and a successor", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			planned(s)
			s.calmly(later)
			s.upTo(decision{act: resume, n: 1}, "replace _lapstrake/orders/cursor.json", proceeds)
			s.calmly(decision{act: supersede, n: 2}, deliverChunk(2, 0, 2), decision{act: oldCursor, n: 2})
		},
		scripts: [][]decision{{deliverFinalize(2, 2)}, {{act: supersede, n: 3}}},
	},
	{
		name: "three attempts on one part", rows: 1, before: planned, fates: anyFault, bound: 2, deep: 3,
		scripts: [][]decision{{deliverChunk(1, 0, 1)}, {leaseOut, deliverChunk(1, 0, 1)}, {leaseOut, deliverChunk(1, 0, 1)}, {{act: updateRow, n: 1}}},
	},
	{
		name: "a resume with a zombie and two planners", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			planned(s)
			s.upTo(deliverChunk(1, 0, 1), "create out/part-", proceeds)
			s.calmly(later)
		},
		scripts: [][]decision{{{act: resume, n: 1}}, {{act: resume, n: 1}, deliverChunk(1, 0, 2), deliverFinalize(1, 2)}},
	},
	{
		name: "a planner that stalled while it put tasks, then a resume", rows: 2, fates: anyFault, bound: 2, deep: 3,
		before: func(s *simulation) {
			s.upTo(decision{act: trigger, n: 1}, "PutChunk 120001.000/000001", proceeds)
			s.calmly(later)
		},
		scripts: [][]decision{{{act: resume, n: 1}, deliverChunk(1, 0, 2), deliverChunk(1, 1, 2), deliverFinalize(1, 2)}, {deliverChunk(1, 0, 1)}},
	},
	{
		name: "a worker of the old generation that splits, and a resume", rows: 5, with: splits, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			planned(s)
			s.upTo(deliverChunk(1, 0, 1), "Split", proceeds)
			s.calmly(later)
		},
		scripts: [][]decision{{{act: resume, n: 1}}, {{act: deliver, what: chunkOf(1, "000000.s01", 1)}}},
	},
	{
		name: "a resume that races a take-over", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before:  func(s *simulation) { planned(s); s.calmly(later) },
		scripts: [][]decision{{{act: resume, n: 1}, deliverChunk(1, 0, 2), deliverFinalize(1, 2)}, {{act: supersede, n: 2}}, {deliverChunk(1, 0, 1)}},
	},
	{
		name: "fan-in of two tasks that split", rows: 10, with: splits, before: planned, fates: anyFault, bound: 1, deep: 2,
		scripts: [][]decision{{deliverChunk(1, 0, 1)}, {deliverChunk(1, 1, 1)}, {{act: deliver, what: chunkOf(1, "000000.s01", 1)}}, {{act: deliver, what: chunkOf(1, "000001.s01", 1)}}},
	},
	{
		name: "a forced repair, a zombie finalizer and a successor", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			extracted(s)
			s.upTo(deliverFinalize(1, 1), "replace out/manifest.json", proceeds)
			s.calmly(deliverFinalize(1, 1), decision{act: losePart, what: "out/part-000001.csv"})
		},
		scripts: [][]decision{{{act: repairRun, n: 1}, {act: deliver, what: chunkOf(1, "000000.r1", 2)}, deliverFinalize(1, 2)}, {{act: supersede, n: 2}}},
	},
	{
		name: "a lost fence document, a zombie finalizer and a resume", rows: 1, fates: anyFault, bound: 1, deep: 2,
		before: func(s *simulation) {
			extracted(s)
			s.upTo(deliverFinalize(1, 1), "get _lapstrake/orders/cursor.json", proceeds)
			s.calmly(later)
			for range 2 {
				s.upTo(decision{act: resume, n: 1}, "replace _lapstrake/orders/cursor.json", diesAfter)
				s.calmly(later)
			}
			s.calmly(decision{act: loseCursor})
		},
		scripts: [][]decision{{{act: resume, n: 1}}, {{act: reanchor, n: 2}, deliverChunk(2, 0, 3), deliverFinalize(2, 3)}},
	},
}
