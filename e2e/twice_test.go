package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// twice is a queue that delivers every message twice, the second one right
// after the first: two workers have the same task at the same time.
type twice struct {
	taskqueue.Queue
	sent *atomic.Int64
}

// Send implements [taskqueue.Queue].
func (q twice) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	q.sent.Add(int64(len(messages)))
	var doubled []taskqueue.Message
	for _, m := range messages {
		doubled = append(doubled, m, m)
	}
	return q.Queue.Send(ctx, queue, doubled...)
}

func TestEveryMessageDeliveredTwiceGivesEveryRowOnce(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	db := newDatabase(t)
	createEveryType(t, db, 2000)
	columns := slices.Concat(keys, everyType)
	want := sourceRows(t, db, "t", columns)
	d := newDesk(t)
	t.Setenv("DATABASE_URL", db.url)
	local := inProcess(t, d, exportsOf("parquet", everyType, "table: t"))
	var sent, completed atomic.Int64
	local.Queue = func(q taskqueue.Queue) taskqueue.Queue { return twice{q, &sent} }
	local.Progress = func(c runstate.Chunk) {
		if c.Status == runstate.ChunkCompleted {
			completed.Add(1)
		}
	}
	for i, e := range local.Config.Exports {
		t.Run(cuts[i].name, func(t *testing.T) {
			sent.Store(0)
			completed.Store(0)
			run, err := runExport(t, local, e, 8)
			if err != nil {
				t.Fatal(err)
			}
			p := published(t, inFolder(t, filepath.Join(d.dir, "out", "parquet", e.Name)))
			if p.manifest.RunID != run {
				t.Errorf("published is %s, not %s", p.manifest.RunID, run)
			}
			if tasks := completed.Load(); sent.Load() <= tasks {
				t.Errorf("%d messages for %d tasks: the test no longer tests anything", sent.Load(), tasks)
			}
			sameRows(t, want, normalized(t, p.rows(t, "pyarrow", namesOf(columns)), nil))
		})
	}
}
