package simulation

import (
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// durableStory is a piece of the protocol with the steps in which processes die.
type durableStory struct {
	name string
	// before is what has happened.
	before func(t *testing.T, m *mortality)
	// of are the steps that count, see mortality.
	of []string
	// act does the rest, as often as it takes when a process dies in it, and
	// judges the end.
	act func(t *testing.T, m *mortality)
}

var durableStories = []durableStory{
	{
		name: "a run",
		of:   []string{"run", "chunk", "finalize"},
		act: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a chunk splits",
		before: func(t *testing.T, m *mortality) {
			m.w.db.rows, m.w.config.Exports[0].ChunkSize = 14, 1000
			m.w.budget = time.Minute
			m.w.slow(13 * time.Second)
			triggerUntilPlanned(t, m.w, 1)
		},
		of: []string{"chunk: Split", "chunk: send chunk-default", "chunk: Complete"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name:   "an attempt fails",
		before: func(t *testing.T, m *mortality) { triggerUntilPlanned(t, m.w, 1) },
		of:     []string{"chunk: Claim", "chunk: Fail"},
		act: func(t *testing.T, m *mortality) {
			failures := 1
			m.w.db.fail = func(keyspace.Range) error {
				if failures--; failures == 0 {
					return errPassing
				}
				return nil
			}
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a run fails for good, and the next one does not wait for it",
		before: func(t *testing.T, m *mortality) {
			m.w.db.fail = func(keyspace.Range) error { return errPermanent }
			triggerUntilPlanned(t, m.w, 1)
		},
		of: []string{"chunk: Fail", "chunk: send finalize", "finalize"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.wantStatus(t, 1, runstate.RunFailed)
			m.w.nothingPublished(t)
			m.rest()
			m.w.db.fail = nil
			triggerUntilPlanned(t, m.w, 2)
			m.w.settle(t, m.w.runID(2))
			m.wantDelivered(t, 2)
		},
	},
	{
		name:   "a resume finds parts that are damaged, missing and of nobody",
		before: wreck,
		of:     []string{"resume"},
		act: func(t *testing.T, m *mortality) {
			m.resumeUntilPlanned(t)
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
			m.wantKept(t, "damaged\n")
			if got := m.w.run(t, 1).Gen; got < 2 {
				t.Errorf("the run ended at generation %d: it was not resumed", got)
			}
		},
	},
	{
		name: "a finalizer finds that a part is gone",
		before: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			m.deliverAll(t, chunkQueue)
			m.losePart(t, "part-000002.csv")
		},
		of: []string{"finalize: Repair", "finalize: send chunk-default"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a run takes over from one that is live",
		before: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			_, _ = m.w.deliver(t.Context(), chunkQueue)
		},
		of: []string{"run", "finalize: SupersedeRun"},
		act: func(t *testing.T, m *mortality) {
			m.supersedeUntilPlanned(t, 2)
			m.w.settle(t, m.w.runID(1), m.w.runID(2))
			m.wantStatus(t, 1, runstate.RunSuperseded)
			m.wantDelivered(t, 2)
		},
	},
	{
		name: "a run rolls its predecessor forward",
		before: func(t *testing.T, m *mortality) {
			m.kill("finalize: create sidecar", true, func() {
				triggerUntilPlanned(t, m.w, 1)
				m.deliverAll(t, chunkQueue)
				m.deliverAll(t, wire.FinalizeQueue)
			})
			m.w.dropMessages(t)
			m.w.now = m.w.now.Add(planTimeout)
		},
		of: []string{"run", "finalize: SucceedRun"},
		act: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 2)
			m.w.settle(t, m.w.runID(1), m.w.runID(2))
			m.wantStatus(t, 1, runstate.RunSucceeded)
			m.wantDelivered(t, 2)
		},
	},
	{
		name: "a run steps back before one that is live",
		before: func(t *testing.T, m *mortality) {
			m.reopen = nil // who opens a table that another process has proves that it is dead
			triggerUntilPlanned(t, m.w, 1)
		},
		of: []string{"run"},
		act: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 2)
			m.w.settle(t, m.w.runID(1))
			m.wantStatus(t, 2, runstate.RunRefused)
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a sweep sends again what got lost",
		before: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			m.w.dropMessages(t)
		},
		of: []string{"sweep"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a sweep gives up a task that nobody works on",
		before: func(t *testing.T, m *mortality) {
			m.w.config.Exports[0].ChunkMaxAttempts = 1
			triggerUntilPlanned(t, m.w, 1)
			m.kill("chunk: create part", false, func() { _, _ = m.w.deliver(t.Context(), chunkQueue) })
			m.w.dropMessages(t)
		},
		of: []string{"sweep"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.wantStatus(t, 1, runstate.RunFailed)
			m.rest()
			m.resumeUntilPlanned(t)
			m.w.settle(t, m.w.runID(1))
			m.wantDelivered(t, 1)
		},
	},
	{
		name: "a finalizer seals its own run when the fence is another's",
		before: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			m.deliverAll(t, chunkQueue)
			m.kill("run: create sidecar", false, func() { _, _ = m.w.planner(t.Context(), m.superseding(2)) })
		},
		of: []string{"finalize: create sidecar", "finalize: SupersedeRun"},
		act: func(t *testing.T, m *mortality) {
			m.w.settle(t, m.w.runID(1))
			m.rest()
			m.wantStatus(t, 1, runstate.RunSuperseded)
			m.supersedeUntilPlanned(t, 2)
			m.w.settle(t, m.w.runID(2))
			m.wantDelivered(t, 2)
		},
	},
	{
		name: "a planner fails its run",
		before: func(t *testing.T, m *mortality) {
			triggerUntilPlanned(t, m.w, 1)
			m.w.settle(t, m.w.runID(1))
			m.w.db.system = "2"
		},
		of: []string{"run"},
		act: func(t *testing.T, m *mortality) {
			for range 2 {
				_, _ = m.w.planner(t.Context(), m.w.trigger(2))
			}
			m.rest()
			m.wantStatus(t, 2, runstate.RunFailed)
			m.wantDelivered(t, 1)
			m.w.db.system = "1"
			triggerUntilPlanned(t, m.w, 3)
			m.w.settle(t, m.w.runID(3))
			m.wantDelivered(t, 3)
		},
	},
	{
		name: "a verdict is asked for",
		of:   []string{"validate"},
		act: func(t *testing.T, m *mortality) {
			trigger := m.w.trigger(1)
			trigger.Action = wire.ActionValidate
			for range 2 {
				_, _ = m.w.planner(t.Context(), trigger)
			}
			if len(m.w.queues.Pending(wire.ValidateQueue)) == 0 {
				t.Error("nobody is asked")
			}
		},
	},
}

// wreck leaves a run that was killed: a completed task is whole, the part of
// another one is damaged, that of a third one is gone, one has a part that
// nobody has recorded, and one was never begun.
func wreck(t *testing.T, m *mortality) {
	m.w.db.rows = 14
	triggerUntilPlanned(t, m.w, 1)
	for range 3 {
		if ok, err := m.w.deliver(t.Context(), chunkQueue); err != nil || !ok {
			t.Fatalf("no chunk is due: %v", err)
		}
	}
	m.kill("chunk: Complete", false, func() { _, _ = m.w.deliver(t.Context(), chunkQueue) })
	m.w.dropMessages(t)
	m.w.now = m.w.now.Add(planTimeout)
	m.losePart(t, "part-000002.csv")
	prefix, body := m.prefix(), []byte("damaged\n")
	part, err := prefix.Head(t.Context(), "part-000001.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prefix.Replace(t.Context(), part.Key, part.Version, body, destination.Meta{Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}); err != nil {
		t.Fatal(err)
	}
}

func (m *mortality) prefix() destination.Store { return destination.Prefixed(m.w.bucket, "out/") }

// losePart takes a part out of the prefix.
func (m *mortality) losePart(t *testing.T, name string) {
	t.Helper()
	part, err := m.prefix().Head(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.prefix().Move(t.Context(), name, "elsewhere/"+name, part.Version); err != nil {
		t.Fatal(err)
	}
}

func (m *mortality) deliverAll(t *testing.T, queue string) {
	t.Helper()
	for {
		ok, err := m.w.deliver(t.Context(), queue)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
	}
}

func (m *mortality) superseding(id int) wire.Trigger {
	trigger := m.w.trigger(id)
	trigger.OnConflict = "supersede"
	return trigger
}

// supersedeUntilPlanned is triggerUntilPlanned for a run that takes over.
func (m *mortality) supersedeUntilPlanned(t *testing.T, id int) {
	t.Helper()
	m.untilAnswered(t, m.superseding(id))
}

// resumeUntilPlanned asks for a resume of the first run until one has been
// planned, whoever asked for it.
func (m *mortality) resumeUntilPlanned(t *testing.T) {
	t.Helper()
	m.untilAnswered(t, wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: m.w.runID(1)})
}

func (m *mortality) untilAnswered(t *testing.T, trigger wire.Trigger) {
	t.Helper()
	for range 4 {
		if answer, err := m.w.planner(t.Context(), trigger); err == nil && answer.Status != "" {
			return
		}
		m.w.now = m.w.now.Add(planTimeout) // of a dead planner, its lease
	}
	t.Fatal("the planner does not answer")
}

func (m *mortality) wantStatus(t *testing.T, id int, want runstate.RunStatus) {
	t.Helper()
	if run := m.w.run(t, id); run.Status != want {
		t.Fatalf("run %d is %s, want %s: %+v", id, run.Status, want, run.Error)
	}
}

// wantDelivered fails the test unless a run has succeeded, its manifest stands,
// and every success that stands is the table.
func (m *mortality) wantDelivered(t *testing.T, id int) {
	t.Helper()
	m.wantStatus(t, id, runstate.RunSucceeded)
	manifest, rows := m.w.read(t)
	m.w.wantTable(t, "in the end", rows)
	if manifest.RunID != m.w.runID(id) {
		t.Errorf("the manifest is that of %s", manifest.RunID)
	}
	m.w.wantHistory(t, "in the end")
}

// wantKept fails the test if an object with this body is nowhere any more: what
// is quarantined is never deleted (M9).
func (m *mortality) wantKept(t *testing.T, body string) {
	t.Helper()
	found := false
	err := m.prefix().List(t.Context(), "", func(o destination.Object) error {
		if !found && strings.Contains(o.Key, "part-") {
			there, _, err := m.prefix().Get(t.Context(), o.Key, 1<<20)
			found = err == nil && string(there) == body
		}
		return nil
	})
	if err != nil || !found {
		t.Errorf("%q is gone (%v)", body, err)
	}
}
