package dynamodb

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

var (
	noon  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	until = noon.Add(3 * time.Minute)
	late  = noon.Add(4 * time.Minute)
)

const (
	run  = contract.RunID("a_20261129T120000.000")
	task = contract.TaskID("000000")
)

var mine = runstate.Lease{Run: run, Task: task, Token: "mine"}

func claim(token string, now time.Time) runstate.ClaimRequest {
	return runstate.ClaimRequest{Run: run, Task: task, Gen: 1, Token: token, Now: now, LeaseUntil: now.Add(3 * time.Minute)}
}

// story is a run from its creation to its end, one operation a step.
var story = []struct {
	name string
	do   func(*testing.T, *Table) error
}{
	{"CreateRun", func(t *testing.T, table *Table) error {
		return table.CreateRun(t.Context(), runstate.Run{RunID: run, Export: "a", CreatedAt: noon, LeaseUntil: until})
	}},
	{"RecordFence", func(t *testing.T, table *Table) error {
		return table.RecordFence(t.Context(), run, runstate.FenceRecord{Gen: 1, LeaseUntil: until})
	}},
	{"PutFanin", func(t *testing.T, table *Table) error {
		return table.PutFanin(t.Context(), runstate.Fanin{RunID: run, Expected: 1})
	}},
	{"PutChunk", func(t *testing.T, table *Table) error {
		return table.PutChunk(t.Context(), runstate.Chunk{RunID: run, ID: task, Gen: 1, MaxAttempts: 3, CreatedAt: noon})
	}},
	{"StartRun", func(t *testing.T, table *Table) error {
		_, err := table.StartRun(t.Context(), run, runstate.StartRecord{Gen: 1, FaninK: 2, LeaseUntil: until})
		return err
	}},
	{"Claim", func(t *testing.T, table *Table) error {
		c, err := table.Claim(t.Context(), claim("first", noon))
		return expect(err, c.Attempts == 1 && c.LeaseToken == "first")
	}},
	{"Heartbeat", func(t *testing.T, table *Table) error {
		return table.Heartbeat(t.Context(), runstate.Lease{Run: run, Task: task, Token: "first"}, late)
	}},
	{"Fail", func(t *testing.T, table *Table) error {
		c, err := table.Fail(t.Context(), runstate.Lease{Run: run, Task: task, Token: "first"}, fault.Failure{}, false, noon)
		return expect(err, c.Status == runstate.ChunkFailed && c.Attempts == 1)
	}},
	{"Claim again", func(t *testing.T, table *Table) error {
		c, err := table.Claim(t.Context(), claim("mine", noon))
		return expect(err, c.Attempts == 2)
	}},
	{"Split", func(t *testing.T, table *Table) error {
		c, err := table.Split(t.Context(), runstate.SplitRequest{Lease: mine, Gen: 1, ChildAttempts: 3, Now: noon})
		return expect(err, c.SplitInto == task.SplitChild())
	}},
	{"FaninAdd", func(t *testing.T, table *Table) error {
		f, err := table.FaninAdd(t.Context(), run, 0, string(task))
		return expect(err, f.Expected == 2 && len(f.Done) == 1)
	}},
	{"ResumeChunk", func(t *testing.T, table *Table) error {
		c, err := table.ResumeChunk(t.Context(), run, task.SplitChild(), 2, 3, noon)
		return expect(err, c.Gen == 2 && c.MaxAttempts == 3)
	}},
	{"Repair", func(t *testing.T, table *Table) error {
		c, err := table.Repair(t.Context(), run, task, 1, 3, noon)
		return expect(err, c.ID == task.Repair())
	}},
	{"NoteRun", func(t *testing.T, table *Table) error {
		yes := true
		r, err := table.NoteRun(t.Context(), run, runstate.Note{Enqueued: &yes})
		return expect(err, r.Enqueued)
	}},
	{"FailRun", func(t *testing.T, table *Table) error {
		r, err := table.FailRun(t.Context(), run, 1, fault.Failure{}, noon)
		return expect(err, r.Status == runstate.RunFailed)
	}},
	{"ClaimResume", func(t *testing.T, table *Table) error {
		r, err := table.ClaimResume(t.Context(), run, runstate.ResumeClaim{RequestID: "r", Now: noon, LeaseUntil: until})
		return expect(err, r.Status == runstate.RunPlanning)
	}},
	{"ResumeRun", func(t *testing.T, table *Table) error {
		r, err := table.ResumeRun(t.Context(), run, 2, until)
		return expect(err, r.Gen == 2)
	}},
	{"StartRun again", func(t *testing.T, table *Table) error {
		_, err := table.StartRun(t.Context(), run, runstate.StartRecord{Gen: 2, TriggerID: "r", FaninK: 2, LeaseUntil: until})
		return err
	}},
	{"BeginFinalize", func(t *testing.T, table *Table) error {
		r, err := table.BeginFinalize(t.Context(), run, 2, noon)
		return expect(err, r.Status == runstate.RunFinalizing)
	}},
	{"SucceedRun", func(t *testing.T, table *Table) error {
		r, err := table.SucceedRun(t.Context(), run, runstate.SuccessRecord{Gen: 2, Now: noon})
		return expect(err, r.Status == runstate.RunSucceeded)
	}},
	{"MarkNotified", func(t *testing.T, table *Table) error { return table.MarkNotified(t.Context(), run) }},
}

var errUnexpected = errors.New("not what the operation should have left")

func expect(err error, right bool) error {
	if err == nil && !right {
		err = errUnexpected
	}
	return err
}

// TestALostAnswerIsFound is QUE-07: whatever an operation is, that its own first
// request landed is never mistaken for somebody else's, and a request that did
// not arrive is sent again.
func TestALostAnswerIsFound(t *testing.T) {
	for name, faults := range map[string][]trouble{
		"the connection breaks after every write":  {answerLost},
		"the server fails after every write":       {answerBroken},
		"every write is throttled first":           {throttled, throttled},
		"every write meets a transaction first":    {conflict, fine},
		"throttled, then lost":                     {throttled, answerLost},
		"the connection breaks before every write": {neverSent},
		"the server fails before every write":      {serverError, neverSent},
	} {
		t.Run(name, func(t *testing.T) {
			table, l := openLine(t)
			for _, step := range story {
				l.breaks(faults...)
				if err := step.do(t, table); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
			}
			leaf, err := table.GetFanin(t.Context(), run, 0)
			if err != nil || leaf.Expected != 3 {
				t.Errorf("one task, split and repaired: the leaf expects %d, %v", leaf.Expected, err)
			}
		})
	}
}

// TestAnAnswerThatNobodyKnowsIsNoAnswer: what did not land for sure is not
// reported as refused, and what is not known is not guessed.
func TestAnAnswerThatNobodyKnowsIsNoAnswer(t *testing.T) {
	for name, broken := range map[string]trouble{"the connection breaks before": neverSent, "the server fails before": serverError} {
		t.Run(name, func(t *testing.T) {
			table, l := openLine(t)
			for _, step := range story {
				l.breaks(slices.Repeat([]trouble{broken}, mostTries)...)
				err := step.do(t, table)
				if err == nil || errors.Is(err, runstate.ErrCondition) || fault.CodeOf(err) != "LAPSTRAKE_STATE_UNDECIDED" || !fault.Retry(err) {
					t.Fatalf("%s: got %v, want LAPSTRAKE_STATE_UNDECIDED", step.name, err)
				}
				l.breaks()
				if err := step.do(t, table); err != nil {
					t.Fatalf("%s, the second time: %v", step.name, err)
				}
			}
		})
	}

	t.Run("landed, and somebody else wrote before the look", func(t *testing.T) {
		table, l := openLine(t)
		for _, step := range story[:5] {
			if err := step.do(t, table); err != nil {
				t.Fatal(err)
			}
		}
		l.breaks(answerLost)
		other := *table
		other.client = client(t, nil)
		l.between = func() {
			if _, err := other.Claim(t.Context(), claim("theirs", noon.Add(time.Hour))); err != nil {
				t.Error(err)
			}
		}
		_, err := table.Claim(t.Context(), claim("mine", noon))
		if fault.CodeOf(err) != "LAPSTRAKE_STATE_UNDECIDED" || errors.Is(err, runstate.ErrCondition) {
			t.Errorf("got %v, want LAPSTRAKE_STATE_UNDECIDED", err)
		}
	})
}

func TestATableThatCannotBeUsedIsNamed(t *testing.T) {
	table, l := openLine(t)
	l.breaks(slices.Repeat([]trouble{throttled}, 3*mostTries)...)
	if err := story[0].do(t, table); fault.CodeOf(err) != "LAPSTRAKE_STATE_BUSY" || !fault.Retry(err) {
		t.Errorf("throttled for ever: %v", err)
	}
	if len(l.sent) != mostTries {
		t.Errorf("throttled for ever: sent %d times", len(l.sent))
	}
	gone := New(table.client, "no-such-table", impatient{}, table.ids)
	l.breaks()
	if _, err := gone.GetRun(t.Context(), run); fault.CodeOf(err) != "LAPSTRAKE_STATE_TABLE_MISSING" || fault.Retry(err) {
		t.Errorf("no such table: %v", err)
	}
	if err := story[3].do(t, gone); fault.CodeOf(err) != "LAPSTRAKE_STATE_TABLE_MISSING" {
		t.Errorf("no such table: %v", err)
	}
}
