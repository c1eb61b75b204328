package extract

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
)

// A batch that lies inside one group of equal keys cannot be cut: the task reads
// on until a group ends.
func TestSplitOutsideAGroupOfEqualKeys(t *testing.T) {
	for _, group := range []int{4, 5, 7, 8} {
		r := &rows{n: 200, group: group, batch: 3}
		j := job(r, memory.New("memory://b", memory.LikeS3), 1<<20)
		j.Deadline = start.Add(24 * time.Second)
		out, err := Run(t.Context(), j)
		if err != nil || out.Rest == nil {
			t.Fatalf("groups of %d: %+v (%v)", group, out, err)
		}
		last, _ := strconv.Atoi(out.Done.UpTo[0])
		if want := int64(last * group); out.Result.Rows != want {
			t.Fatalf("groups of %d: %d rows up to key %d, want %d", group, out.Result.Rows, last, want)
		}
	}
}

// A task that has read its last row when its time is over has no rest: a child
// would have nothing to read.
func TestTaskThatHasReadItsLastRowIsNotSplit(t *testing.T) {
	j := job(&rows{n: 10, group: 1, batch: 10}, memory.New("memory://b", memory.LikeS3), 1<<20)
	j.Range = keyspace.Range{UpTo: keyspace.Key{"10"}}
	j.Deadline = start.Add(time.Second)
	out, err := Run(t.Context(), j)
	if err != nil || out.Rest != nil || out.Result.Rows != 10 {
		t.Fatalf("%+v (%v)", out, err)
	}
}

// A task splits before its item has more parts than it may list.
func TestTaskSplitsBeforeItHasTooManyParts(t *testing.T) {
	out, err := Run(t.Context(), job(&rows{n: 2 * runstate.SplitParts, group: 1, batch: 1}, memory.New("memory://b", memory.LikeS3), 1))
	if err != nil || out.Rest == nil || len(out.Result.Parts) != runstate.SplitParts {
		t.Fatalf("%d parts, rest %v (%v)", len(out.Result.Parts), out.Rest, err)
	}
}

// badEnd is a source whose reads end well and close badly.
type badEnd struct{ src }

func (b badEnd) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	r, err := b.src.Read(ctx, spec)
	return badClose{r}, err
}

type badClose struct{ source.Reader }

var errClose = errors.New("the snapshot was lost")

func (badClose) Close(context.Context) error { return errClose }

// A read whose end fails delivers nothing: nobody knows what it has read.
func TestReadThatClosesBadlyDeliversNothing(t *testing.T) {
	j := job(&rows{n: 25, group: 1, batch: 10}, memory.New("memory://b", memory.LikeS3), 1<<20)
	j.Source = badEnd{j.Source.(src)}
	if out, err := Run(t.Context(), j); !errors.Is(err, errClose) || out.Result.Rows != 0 {
		t.Fatalf("%+v (%v)", out, err)
	}
}
