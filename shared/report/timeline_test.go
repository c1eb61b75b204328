package report

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func TestTheTimeOfACrashIsVisible(t *testing.T) {
	d := draw(New(crashed()))
	if len(d.Lanes) != 4 || len(d.Bars) != 12 {
		t.Fatalf("%d bars in %d lanes", len(d.Bars), len(d.Lanes))
	}
	for i, l := range d.Lanes {
		if l.Name != fmt.Sprintf("worker-%d", i+1) {
			t.Errorf("lane %d is of %q", i, l.Name)
		}
	}
	if len(d.Gaps) != 1 || d.Gaps[0].Label != "3.80 s" {
		t.Errorf("gaps are %+v", d.Gaps)
	}
	if len(d.Restarts) != 1 || d.Restarts[0].Label != "generation 2" {
		t.Errorf("restarts are %+v", d.Restarts)
	}
	again := 0
	for _, b := range d.Bars {
		if b.Kind == "again" {
			again++
		}
	}
	if again != 4 {
		t.Errorf("%d bars of repeated attempts", again)
	}
}

func TestEveryKindOfBarIsExplained(t *testing.T) {
	for _, tc := range []struct {
		kind  string
		chunk Chunk
	}{
		{"done", Chunk{Status: runstate.ChunkCompleted, Attempts: 1}},
		{"again", Chunk{Status: runstate.ChunkCompleted, Attempts: 2, SplitOf: "x"}},
		{"split", Chunk{Status: runstate.ChunkCompleted, Attempts: 1, SplitOf: "x"}},
		{"repair", Chunk{Status: runstate.ChunkCompleted, Attempts: 1, RepairOf: "x"}},
		{"superseded", Chunk{Status: runstate.ChunkCompleted, Attempts: 1, SupersededBy: "x"}},
		{"failed", Chunk{Status: runstate.ChunkFailed, Attempts: 3}},
		{"running", Chunk{Status: runstate.ChunkRunning, Attempts: 1}},
	} {
		if got := kindOf(tc.chunk); got != tc.kind {
			t.Errorf("%+v is %s, want %s", tc.chunk, got, tc.kind)
		}
		if !slices.ContainsFunc(legends, func(l legend) bool { return l.Kind == tc.kind }) {
			t.Errorf("%s is not explained", tc.kind)
		}
	}
}

// Whatever the clocks of the workers say, bars stay inside the drawing, those
// of one lane do not overlap, and nothing runs in a gap.
func TestDrawingsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := crashed()
		in.Chunks = nil
		for i := range rapid.IntRange(0, 60).Draw(t, "tasks") {
			from := rapid.Float64Range(-5, 30).Draw(t, "from")
			c := runstate.Chunk{
				ID: contract.BaseTaskID(i), Status: rapid.SampledFrom([]runstate.ChunkStatus{runstate.ChunkCompleted, runstate.ChunkFailed, runstate.ChunkRunning, runstate.ChunkPending}).Draw(t, "status"),
				Worker: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "worker"), Gen: contract.Generation(rapid.IntRange(1, 3).Draw(t, "gen")),
				Attempts: rapid.IntRange(1, 3).Draw(t, "attempts"), ChangedAt: seconds(from + rapid.Float64Range(-2, 10).Draw(t, "took")),
			}
			if c.Status != runstate.ChunkPending {
				c.StartedAt = seconds(from)
			}
			in.Chunks = append(in.Chunks, c)
		}
		d := draw(New(in))
		if d == nil {
			return
		}
		lanes := make(map[int][]bar)
		for _, b := range d.Bars {
			if b.X < float64(d.Gutter)-0.01 || b.X+b.W > drawingWidth || b.Y+d.LaneHeight > d.Height {
				t.Fatalf("bar %+v is outside of %d by %d", b, d.Width, d.Height)
			}
			lanes[b.Y] = append(lanes[b.Y], b)
			for _, g := range d.Gaps {
				if b.X < g.X+g.W-0.01 && b.X+b.W > g.X+1.6 {
					t.Fatalf("bar %+v runs in gap %+v", b, g)
				}
			}
		}
		for _, bars := range lanes {
			for i := 1; i < len(bars); i++ {
				if bars[i].X+1.6 < bars[i-1].X+bars[i-1].W && bars[i-1].W > 1.6 {
					t.Fatalf("bars %+v and %+v overlap", bars[i-1], bars[i])
				}
			}
		}
		if len(d.Ticks) < 2 || len(d.Ticks) > 10 {
			t.Fatalf("%d ticks", len(d.Ticks))
		}
	})
}

func TestManyWorkersAndManyTasksStaySmall(t *testing.T) {
	in := crashed()
	in.Chunks = nil
	for i := range 10_000 {
		c := crashed().Chunks[i%8]
		c.ID, c.Worker = contract.BaseTaskID(i), fmt.Sprint("w", i%1000)
		c.StartedAt, c.ChangedAt = seconds(float64(i/1000)), seconds(float64(i/1000)+0.9)
		in.Chunks = append(in.Chunks, c)
	}
	s := New(in)
	d := draw(s)
	if len(d.Lanes) != 1000 || d.Lanes[0].Name != "" || d.Bars[0].Detail != "" {
		t.Errorf("%d lanes, first %+v, bar %+v", len(d.Lanes), d.Lanes[0], d.Bars[0])
	}
	body, err := s.HTML()
	if err != nil || len(body) > 2<<20 {
		t.Errorf("page of %d bytes, %v", len(body), err)
	}
}

func TestAWorkerKeepsItsLane(t *testing.T) {
	attempts := []attempt{
		{Chunk: Chunk{Worker: "a"}, from: seconds(0), to: seconds(2)},
		{Chunk: Chunk{Worker: "b"}, from: seconds(0), to: seconds(1)},
		{Chunk: Chunk{Worker: "b"}, from: seconds(3), to: seconds(4)},
		{Chunk: Chunk{Worker: "a"}, from: seconds(3), to: seconds(4)},
		{Chunk: Chunk{Worker: "c"}, from: seconds(5), to: seconds(6)},
	}
	names := assignLanes(attempts, seconds(6))
	if !slices.Equal(names, []string{"", "b"}) || attempts[2].lane != 1 || attempts[3].lane != 0 || attempts[4].lane != 0 {
		t.Errorf("lanes of %q: %+v", names, attempts)
	}
}
