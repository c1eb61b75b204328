package wiring

import (
	"log/slog"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A process that works on one run leaves the lost work of other runs to those
// that have their config and credentials.
func TestAProcessSweepsItsOwnRunOnly(t *testing.T) {
	table, clk := memory.New(), clock.System{}
	long := clk.Now().Add(-time.Hour)
	for _, id := range []contract.RunID{"mine", "other"} {
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		put(table.CreateRun(t.Context(), runstate.Run{RunID: id, Export: contract.ExportName(id), CreatedAt: long, LeaseUntil: clk.Now().Add(time.Hour)}))
		put(table.RecordFence(t.Context(), id, runstate.FenceRecord{Gen: 1, LeaseUntil: clk.Now().Add(time.Hour), Queue: "chunk-default"}))
		put(table.PutFanin(t.Context(), runstate.Fanin{RunID: id, Expected: 1}))
		put(table.PutChunk(t.Context(), runstate.Chunk{RunID: id, ID: contract.BaseTaskID(0), Gen: 1, MaxAttempts: 1, CreatedAt: long}))
		_, err := table.StartRun(t.Context(), id, runstate.StartRecord{Gen: 1, TaskCount: 1, Shards: 1, FaninK: table.FaninK(), MaxAttempts: 1, LeaseUntil: clk.Now().Add(time.Hour)})
		put(err)
	}
	queues := inprocess.New(clk, inprocess.Settings{}, "chunk-default", wire.FinalizeQueue)
	e := &execution{
		Local:  &Local{State: table, Clock: clk, IDs: IDs{}, Log: slog.New(slog.DiscardHandler), Notifier: notify.Nop{}, Lease: time.Minute, Sweep: time.Minute},
		queues: queues, sends: queues, state: observed{Table: table},
	}
	if err := e.sweep(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	sent := queues.Pending("chunk-default")
	if len(sent) != 1 {
		t.Fatalf("%d messages were sent, want one", len(sent))
	}
	if m, err := wire.Decode[wire.ChunkTask](sent[0].Body); err != nil || m.Run.RunID != "mine" {
		t.Fatalf("a message for run %s was sent (%v)", m.Run.RunID, err)
	}
}
