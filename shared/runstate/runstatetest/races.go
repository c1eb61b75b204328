package runstatetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

const racers = 24

// race calls do from many goroutines at once and returns who won. Everybody
// else must have lost by the condition.
func race(t *testing.T, what string, do func(i int) error) (winners []int) {
	t.Helper()
	errs := together(racers, do)
	for i, err := range errs {
		switch {
		case err == nil:
			winners = append(winners, i)
		case !errors.Is(err, runstate.ErrCondition):
			t.Errorf("%s: racer %d: %v", what, i, err)
		}
	}
	if len(winners) != 1 {
		t.Fatalf("%s: %d won, want 1", what, len(winners))
	}
	return winners
}

func together(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-gate
			errs[i] = do(i)
		}()
	}
	close(gate)
	wg.Wait()
	return errs
}

func testRaces(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)

	r := f.newRun()
	won := race(t, "CreateRun", func(i int) error {
		mine := r
		mine.Creation = strconv.Itoa(i)
		return table.CreateRun(ctx, mine)
	})
	if got := f.run(r.RunID).Creation; got != strconv.Itoa(won[0]) {
		t.Errorf("CreateRun: racer %d won and the run is racer %s's", won[0], got)
	}

	run := f.pending()
	won = race(t, "Claim", func(i int) error {
		_, err := table.Claim(ctx, claimOf(run, task, gen, strconv.Itoa(i), start))
		return err
	})
	if c := f.chunk(run, task); c.LeaseToken != strconv.Itoa(won[0]) || c.Attempts != 1 {
		t.Errorf("Claim: racer %d won, and the chunk has token %s at attempt %d", won[0], c.LeaseToken, c.Attempts)
	}

	run = f.claimed()
	race(t, "taking over an expired lease", func(i int) error {
		_, err := table.Claim(ctx, claimOf(run, task, gen, strconv.Itoa(i), late))
		return err
	})

	run = f.claimed()
	race(t, "Split", func(int) error {
		_, err := table.Split(ctx, splitOf(run))
		return err
	})
	leaf, err := table.GetFanin(ctx, run, 0)
	f.must(err)
	if leaf.Expected != table.FaninK()+1 {
		t.Errorf("Split: the leaf expects %d", leaf.Expected)
	}

	run = f.completed()
	race(t, "Repair", func(int) error {
		_, err := table.Repair(ctx, run, task, gen, 2, soon)
		return err
	})

	run = f.claimed()
	race(t, "Complete and Split of one attempt", func(i int) error {
		if i%2 == 0 {
			_, err := table.Complete(ctx, mine(run), result, soon)
			return err
		}
		_, err := table.Split(ctx, splitOf(run))
		return err
	})
	c := f.chunk(run, task)
	if child := f.chunk(run, task.SplitChild()); (c.SplitInto != "") != (child != nil) {
		t.Errorf("Complete and Split: split into %q, child %v", c.SplitInto, child)
	}

	run = f.failed()
	race(t, "ClaimResume", func(i int) error {
		_, err := table.ClaimResume(ctx, run, runstate.ResumeClaim{RequestID: strconv.Itoa(i), Now: soon, LeaseUntil: late})
		return err
	})

	run = f.finalizing()
	race(t, "SucceedRun", func(int) error {
		_, err := table.SucceedRun(ctx, run, success(gen))
		return err
	})
	race(t, "MarkNotified", func(int) error { return table.MarkNotified(ctx, run) })

	testFaninRace(t, f, table)
}

// testFaninRace adds 100 members from 16 goroutines, some of them twice, while
// splits raise what the leaf expects.
func testFaninRace(t *testing.T, f *fixture, table runstate.Table) {
	const adders, members, splits = 16, 100, 4
	ctx := t.Context()
	run := f.pending()
	errs := together(adders+1, func(i int) error {
		if i == adders {
			return splitOften(table, f, run, splits)
		}
		var all []error
		for m := i; m < members+adders; m += adders {
			_, err := table.FaninAdd(ctx, run, 0, fmt.Sprintf("%06d", m%members))
			all = append(all, err)
		}
		return errors.Join(all...)
	})
	f.must(errors.Join(errs...))
	leaf, err := table.GetFanin(ctx, run, 0)
	f.must(err)
	if len(leaf.Done) != members || leaf.Expected != table.FaninK()+splits {
		t.Errorf("the leaf has %d members and expects %d, want %d and %d", len(leaf.Done), leaf.Expected, members, table.FaninK()+splits)
	}
}

func splitOften(table runstate.Table, f *fixture, run contract.RunID, n int) error {
	id := task
	for range n {
		if _, err := table.Claim(f.t.Context(), claimOf(run, id, gen, "mine", start)); err != nil {
			return err
		}
		s := splitOf(run)
		s.Lease.Task = id
		c, err := table.Split(f.t.Context(), s)
		if err != nil {
			return err
		}
		id = c.SplitInto
	}
	return nil
}
