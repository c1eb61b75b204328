package localstack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
)

// slowOrders is a view of which a reader gets about a hundred rows a second.
const slowOrders = `create function %[1]s.slowly(id bigint) returns bigint language plpgsql stable as
$$ begin perform pg_sleep(0.01); return id; end $$;
create view %[1]s.slow as select id, note, price, at, paid, raw, ratio, day from (select o.*, %[1]s.slowly(id) as passed from %[1]s.orders o) s where passed = id`

// A chunk that takes longer than its function may run hands the rest of its
// range on in time: no invocation is ever cut off.
func TestAChunkThatIsTooLongForOneInvocationIsSplit(t *testing.T) {
	w := deploy(t, func(o *cloud.Options) { o.Timeout = 12 * time.Second })
	w.makeOrders(1_500)
	w.exec(fmt.Sprintf(slowOrders, w.schema))
	w.inOrder()
	config := strings.NewReplacer("SCHEMA.gated", "SCHEMA.slow", "chunk_count: 4", "chunk_count: 1", "batch_size: 100", "batch_size: 50").Replace(gatedConfig)
	id := w.start(w.trigger("orders", w.config(config)))
	run := w.await(id)
	if run.Status != runstate.RunSucceeded || run.Outcome.Rows != 1_500 {
		t.Fatalf("the run ended as %+v", run)
	}
	splits := 0
	for _, c := range w.chunks(run) {
		if c.SplitInto != "" {
			splits++
		}
		if c.Attempts != 1 {
			t.Errorf("task %s took %d attempts", c.ID, c.Attempts)
		}
	}
	if splits < 2 {
		t.Errorf("%d tasks were split, want at least two", splits)
	}
	w.wantPublished(ordersPrefix)
	if doc := w.verdict(ordersPrefix, id); doc.Verdict != verify.Passed || doc.UntrackedObjects != 0 {
		t.Errorf("the verdict is %+v", doc)
	}
}
