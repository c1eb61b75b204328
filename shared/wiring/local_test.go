package wiring

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
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

// A process whose run cannot be planned, or that is interrupted, ends the run
// that it has asked for, and none that another trigger made or claimed under the
// same id.
func TestAProcessEndsItsOwnRunOnly(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(e *execution, run runstate.Run) error
		ours bool
		want runstate.RunStatus
	}{
		{"another's run has the id", abandoned, false, runstate.RunPlanning},
		{"another's run has the id, and a signal comes", interrupted, false, runstate.RunPlanning},
		{"its own cannot be planned", abandoned, true, runstate.RunFailed},
		{"its own is interrupted", interrupted, true, runstate.RunFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clk := clock.System{}
			e := &execution{
				Local: &Local{Clock: clk, IDs: IDs{}, Log: slog.New(slog.DiscardHandler), Notifier: notify.Nop{}, Destinations: &destinations{}},
				state: observed{Table: memory.New(), triggers: new(sync.Map)},
			}
			e.State = e.state.Table
			run := runstate.Run{
				RunID: "r", Export: "x", TriggerID: "theirs", Status: runstate.RunPlanning, Intent: wire.ActionRun, CreatedAt: clk.Now(), LeaseUntil: clk.Now().Add(time.Hour),
				Root: wire.Location{Kind: "local", URI: "file://" + t.TempDir()},
			}
			var table runstate.Table = e.state.Table
			if tc.ours {
				table = e.state
			}
			if err := table.CreateRun(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := tc.end(e, run); err == nil {
				t.Error("no error")
			}
			if found, err := e.State.GetRun(t.Context(), "r"); err != nil || found.Status != tc.want {
				t.Errorf("the run is %s (%v), want %s", found.Status, err, tc.want)
			}
		})
	}
}

func abandoned(e *execution, run runstate.Run) error {
	_, err := e.abandon(context.Background(), run, fault.New(fault.Refused, "LAPSTRAKE_RUN_ID_TAKEN", "taken"))
	return err
}

func interrupted(e *execution, run runstate.Run) error {
	_, err := e.interrupt(context.Background(), run)
	return err
}
