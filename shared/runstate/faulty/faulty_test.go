package faulty_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/faulty"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/runstate/runstatetest"
)

func TestATableThatNothingHappensToIsATable(t *testing.T) {
	runstatetest.Run(t, func(*testing.T) runstate.Table {
		const never = 1 << 30
		return faulty.Wrap(memory.NewSharded(2), &faulty.Recorder{}, &faulty.Crash{After: never}, &faulty.LoseAnswer{N: never}, &faulty.Fail{N: never})
	})
}

func TestEveryMethodGoesThroughTheHooks(t *testing.T) {
	methods := reflect.TypeFor[runstate.Table]()
	for i := range methods.NumMethod() {
		method := methods.Method(i)
		if method.Name == "FaninK" {
			continue
		}
		recorder := &faulty.Recorder{}
		table := reflect.ValueOf(faulty.Wrap(memory.New(), recorder, faulty.HookFunc(
			func(context.Context, faulty.Call, func() error) error { return faulty.ErrTransient })))
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for a := 1; a < method.Type.NumIn(); a++ {
			args = append(args, reflect.Zero(method.Type.In(a)))
		}
		results := table.MethodByName(method.Name).Call(args)
		if err, _ := results[len(results)-1].Interface().(error); !errors.Is(err, faulty.ErrTransient) {
			t.Errorf("%s: got error %v, want the hook's", method.Name, err)
		}
		if got := recorder.Counts(); len(got) != 1 || got[method.Name] != 1 {
			t.Errorf("%s was recorded as %v", method.Name, got)
		}
	}
}

func run(i int) runstate.Run {
	return runstate.Run{RunID: contract.RunID(rune('a' + i)), Export: "x"}
}

// created creates runs 0 to 3 and returns the errors, and which of them are in
// the table.
func created(t *testing.T, hook faulty.Hook) (errs [4]error, there [4]bool) {
	t.Helper()
	inner := memory.New()
	table := faulty.Wrap(inner, hook)
	for i := range errs {
		errs[i] = table.CreateRun(t.Context(), run(i))
	}
	for i := range there {
		_, err := inner.GetRun(t.Context(), run(i).RunID)
		there[i] = err == nil
	}
	return errs, there
}

func TestHooks(t *testing.T) {
	other := errors.New("other")
	for _, tc := range []struct {
		name  string
		hook  faulty.Hook
		errs  [4]error
		there [4]bool
	}{
		{
			name: "a crash that did not land", hook: &faulty.Crash{After: 1},
			errs:  [4]error{nil, faulty.ErrCrashed, faulty.ErrCrashed, faulty.ErrCrashed},
			there: [4]bool{true, false, false, false},
		},
		{
			name: "a crash that landed", hook: &faulty.Crash{After: 1, Landed: true},
			errs:  [4]error{nil, faulty.ErrCrashed, faulty.ErrCrashed, faulty.ErrCrashed},
			there: [4]bool{true, true, false, false},
		},
		{
			name: "a crash at another operation", hook: &faulty.Crash{Op: "Claim"},
			there: [4]bool{true, true, true, true},
		},
		{
			name: "a lost answer", hook: &faulty.LoseAnswer{N: 2},
			errs:  [4]error{nil, nil, faulty.ErrLost, nil},
			there: [4]bool{true, true, true, true},
		},
		{
			name: "a failure", hook: &faulty.Fail{N: 1, Op: "CreateRun"},
			errs:  [4]error{nil, faulty.ErrTransient, nil, nil},
			there: [4]bool{true, false, true, true},
		},
		{
			name: "failures of one's own", hook: &faulty.Fail{Times: 2, Err: other},
			errs:  [4]error{other, other, nil, nil},
			there: [4]bool{false, false, true, true},
		},
		{
			name: "failures of another operation", hook: &faulty.Fail{Op: "Claim", Times: 10},
			there: [4]bool{true, true, true, true},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			errs, there := created(t, tc.hook)
			for i := range errs {
				if !errors.Is(errs[i], tc.errs[i]) || there[i] != tc.there[i] {
					t.Errorf("run %d: error %v and stored %v, want %v and %v", i, errs[i], there[i], tc.errs[i], tc.there[i])
				}
			}
		})
	}
}

func TestACrashIsSeenOnce(t *testing.T) {
	seen := 0
	crash := &faulty.Crash{After: 2, Then: func() { seen++ }}
	created(t, crash)
	if seen != 1 || !crash.Crashed() {
		t.Errorf("seen %d times, crashed is %v", seen, crash.Crashed())
	}
}
