package chunk_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// counted adds up what an observer is told, and keeps the exports.
type counted struct {
	mu      sync.Mutex
	totals  map[telemetry.Metric]int64
	exports map[string]bool
}

func (c *counted) Count(m telemetry.Metric, n int64, attrs ...slog.Attr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.totals == nil {
		c.totals, c.exports = map[telemetry.Metric]int64{}, map[string]bool{}
	}
	c.totals[m] += n
	for _, a := range attrs {
		c.exports[a.Key+" "+a.Value.String()] = true
	}
}

func (c *counted) Duration(m telemetry.Metric, d time.Duration, attrs ...slog.Attr) {
	c.Count(m, 1, attrs...)
}

func extractCounted(s *stage.Stage, c *counted) {
	s.T.Helper()
	deps := (&stage.Process{Stage: s}).Chunk()
	deps.Observer = c
	if _, err := chunk.Handle(s.T.Context(), deps, wire.ChunkTask{Version: wire.Version, Run: s.Ref(1), Task: "000000"}); err != nil {
		s.T.Fatal(err)
	}
}

func TestMetricsOfAChunk(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	c := &counted{}
	for range 2 { // the second delivery counts nothing
		extractCounted(s, c)
	}
	task := s.Task(1, "000000")
	for m, want := range map[telemetry.Metric]int64{
		telemetry.RowsRead: 4, telemetry.PartBytes: task.Bytes, telemetry.Attempts: 1, telemetry.ChunkSeconds: 1,
		telemetry.ZombieWrites: 0, telemetry.Splits: 0, telemetry.HandOffs: 0,
	} {
		if c.totals[m] != want {
			t.Errorf("%s is %d, want %d", m, c.totals[m], want)
		}
	}
	if len(c.exports) != 1 || !c.exports["export orders"] {
		t.Errorf("told apart by %v", c.exports)
	}
}

func TestMetricsOfAZombie(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Around = func(op string, perform func() error) error {
		if op == "Complete 000000" { // another attempt takes the task before this one has recorded its work
			s.Around = nil
			later := s.Time.Add(time.Hour)
			_, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: s.RunID(1), Task: "000000", Gen: s.Run(1).Gen, Token: "other", Now: later, LeaseUntil: later.Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
		}
		return perform()
	}
	c := &counted{}
	extractCounted(s, c)
	if c.totals[telemetry.ZombieWrites] != 1 || c.totals[telemetry.RowsRead] != 0 {
		t.Errorf("counted %v", c.totals)
	}
}
