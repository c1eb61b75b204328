package dynamodb

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// query calls fn for every item of a partition whose sort key starts with
// prefix, until fn says that it has enough.
func (t *Table) query(ctx context.Context, op, partition, prefix string, newestFirst bool, fn func(item) (enough bool, err error)) error {
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName: t.name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!newestFirst),
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :prefix)"),
		ExpressionAttributeValues: item{":pk": text(partition), ":prefix": text(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return explain(*t.name, op, err)
		}
		for _, i := range page.Items {
			if enough, err := fn(i); enough || err != nil {
				return err
			}
		}
	}
	return nil
}

// ListChunks returns the chunks of a shard.
func (t *Table) ListChunks(ctx context.Context, run contract.RunID, shard int) ([]runstate.Chunk, error) {
	list := []runstate.Chunk{}
	err := t.query(ctx, "ListChunks", shardPartition(run, shard), chunkPrefix, false, func(i item) (bool, error) {
		c, err := readChunk(i)
		list = append(list, c)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// ListActive returns the ACTIVE items, oldest first.
func (t *Table) ListActive(ctx context.Context) ([]runstate.Active, error) {
	var list []runstate.Active
	err := t.query(ctx, "ListActive", "ACTIVE", "RUN#", false, func(i item) (bool, error) {
		a, err := readActive(i)
		list = append(list, a)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b runstate.Active) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.RunID, b.RunID))
	})
	return list, nil
}

// DropActive deletes the ACTIVE item of a run that is terminal or gone: in one
// transaction with a look at the run, which a resume may bring back to life at
// the same time.
func (t *Table) DropActive(ctx context.Context, run contract.RunID) error {
	err := t.transact(ctx, "DropActive", []write{{key: runKey(run), condition: ifEnded}}, activeKey(run))
	var alive *refusal
	if errors.As(err, &alive) {
		return nil
	}
	return err
}

// ListRuns returns the runs of an export that are still there, newest first.
func (t *Table) ListRuns(ctx context.Context, export contract.ExportName, limit int) ([]runstate.Run, error) {
	var list []runstate.Run
	if limit <= 0 {
		return list, nil
	}
	partition := exportKey(runstate.Run{Export: export}).pk
	err := t.query(ctx, "ListRuns", partition, "RUN#", true, func(i item) (bool, error) {
		listed := reader{item: i}
		r, err := t.GetRun(ctx, contract.RunID(listed.text("run_id")))
		switch {
		case errors.Is(err, runstate.ErrNotFound): // ended long ago
			return false, nil
		case err != nil:
			return false, err
		}
		list = append(list, r)
		return len(list) == limit, listed.err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
