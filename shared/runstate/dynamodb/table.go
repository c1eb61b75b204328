// Package dynamodb is a runstate.Table in one DynamoDB table (architecture
// §2.3): one item a run, chunk and fan-in node, one conditional request an
// operation. Layer: L3 (persistence).
//
// The SDK's own retries are off for writes: a first try that landed would make
// the second one's condition false. Every write carries an id of its own, so
// that after an answer that says neither yes nor no one consistent read tells
// whether it landed. If that cannot be told, the error says so and has no
// ConditionError in it.
//
// Items end by themselves (attribute ttl), and nothing depends on when:
//   - RUN: KeepRuns after it ended. Set when it becomes terminal, removed by
//     T17a; a live run has no ttl.
//   - CHUNK, FANIN: KeepItems after they were last written. A run that needs
//     them for longer plans the missing tasks again (T3) and is not finalized
//     before they are done.
//   - EXPORT: KeepItems after the run was created. It only lists runs.
package dynamodb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// How long items are kept.
const (
	KeepRuns  = 30 * 24 * time.Hour
	KeepItems = 400 * 24 * time.Hour
)

// Table is a runstate.Table.
type Table struct {
	client *dynamodb.Client
	name   *string
	clock  clock.Clock
	ids    contract.IDSource
	k      int
}

var _ runstate.Table = (*Table)(nil)

// New returns the table with the given name, which has to be there with string
// keys pk and sk and the time-to-live attribute ttl. The clock spaces retries
// and dates ttl, and decides nothing.
func New(client *dynamodb.Client, name string, clk clock.Clock, ids contract.IDSource) *Table {
	return &Table{client: client, name: aws.String(name), clock: clk, ids: ids, k: runstate.DefaultFaninK}
}

// Sharded returns t with k tasks in a shard. Every process that uses the table
// needs the same k: it is for tests that want many shards of few tasks.
func (t *Table) Sharded(k int) *Table {
	s := *t
	s.k = k
	return &s
}

// FaninK returns how many tasks a shard holds.
func (t *Table) FaninK() int { return t.k }

// key names an item.
type key struct{ pk, sk string }

func (k key) item() item { return item{"pk": text(k.pk), "sk": text(k.sk)} }

func runKey(run contract.RunID) key { return key{"RUN#" + string(run), "META"} }

func activeKey(run contract.RunID) key { return key{"ACTIVE", "RUN#" + string(run)} }

// exportKey sorts the runs of an export by the time they were created.
func exportKey(r runstate.Run) key {
	return key{"EXPORT#" + string(r.Export), "RUN#" + r.CreatedAt.UTC().Format("20060102T150405.000") + "#" + string(r.RunID)}
}

const chunkPrefix = "CHUNK#"

func shardPartition(run contract.RunID, shard int) string {
	return fmt.Sprintf("RUN#%s#S%d", run, shard)
}

func (t *Table) chunkKey(run contract.RunID, task contract.TaskID) key {
	return key{shardPartition(run, runstate.ShardOf(task, t.k)), chunkPrefix + string(task)}
}

func faninKey(run contract.RunID, shard int) key {
	if shard == runstate.RootShard {
		return key{"RUN#" + string(run), "FANIN"}
	}
	return key{shardPartition(run, shard), "FANIN"}
}

// ttl is the number of the second d from now.
func (t *Table) ttl(d time.Duration) value { return number(t.clock.Now().Add(d).Unix()) }

// pause waits before try+1 of a request.
func (t *Table) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.clock.After(d):
		return nil
	}
}
