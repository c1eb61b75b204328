package dynamodb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// mostTries is how often a request is sent that the table was too busy for:
// about half a minute with the pauses between.
const (
	mostTries  = 10
	firstPause = 50 * time.Millisecond
)

// writeID is the attribute with the id of the last write of an item. It exists
// so that a caller can tell its own write whose answer was lost.
const writeID = "write_id"

// refusal says that a condition does not hold. Failed says of which items, in
// the order of the request; Found are those items, nil where there is none.
type refusal struct {
	failed []bool
	found  []item
}

func (r *refusal) Error() string { return "a condition does not hold" }

// write is a conditional write of one item: the whole item put, or an edit.
type write struct {
	op        string
	key       key
	put       item
	edit      edit
	condition string
	// repeatable is set when doing it twice is the same as doing it once.
	repeatable bool
}

// write sends w and returns the item as it then is. If the condition does not
// hold, that is a *refusal, unless an earlier try of this call may have landed
// and been written over since: then nobody knows.
func (t *Table) write(ctx context.Context, w write) (item, error) {
	id := t.ids.NewID()
	if w.put != nil {
		w.put[writeID] = text(id)
	} else {
		w.edit.set(writeID, text(id))
	}
	var lost error // of a try that may have landed
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", w.op, err)
		}
		left, err := t.send(ctx, w)
		if err == nil {
			return left, nil
		}
		is := classify(err)
		switch {
		case is == condition:
			var failed *types.ConditionalCheckFailedException
			errors.As(err, &failed)
			if written(failed.Item, id) {
				return failed.Item, nil // an earlier try, or something on the way that repeated the request
			}
			if lost != nil {
				return nil, explain(*t.name, w.op, lost)
			}
			return nil, &refusal{failed: []bool{true}, found: []item{failed.Item}}
		case is == unknown && !w.repeatable:
			if found, landed := t.landed(ctx, w.op, w.key, id); landed {
				return found, nil
			}
			lost = err
		}
		if is == hopeless || try == mostTries {
			return nil, explain(*t.name, w.op, err)
		}
		if err := t.pause(ctx, fault.Backoff(firstPause, try, t.ids.Jitter())); err != nil {
			return nil, fmt.Errorf("%s: %w", w.op, err)
		}
	}
}

// landed reads back whether the write with this id is there, after an answer
// that says neither (QUE-07). That it is not there does not mean that it will
// not be: the request may still be on its way. Sending it again is safe, since
// the condition and the id hold for both.
func (t *Table) landed(ctx context.Context, op string, k key, id string) (item, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	found, err := t.read(ctx, op, k)
	return found, err == nil && written(found, id)
}

func written(found item, id string) bool {
	v, ok := found[writeID].(*types.AttributeValueMemberS)
	return ok && v.Value == id
}

func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func (t *Table) send(ctx context.Context, w write) (item, error) {
	names, values := placeholders(w.edit.values, w.condition, w.edit.update())
	if w.put != nil {
		_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: t.name, Item: w.put, ConditionExpression: optional(w.condition),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, once)
		return w.put, err
	}
	out, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: t.name, Key: w.key.item(), UpdateExpression: optional(w.edit.update()), ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, once)
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// read reads one item consistently; nil if it is not there.
func (t *Table) read(ctx context.Context, op string, k key) (item, error) {
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: t.name, Key: k.item(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, explain(*t.name, op, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	return out.Item, nil
}

// transact sends writes that happen together or not at all. The id that tells
// whether they landed is in the first. A write with neither put nor edit only
// checks its condition. The items at drop are deleted, if they are there.
func (t *Table) transact(ctx context.Context, op string, writes []write, drop ...key) error {
	id := t.ids.NewID()
	switch main := &writes[0]; {
	case main.put != nil:
		main.put[writeID] = text(id)
	case main.edit.update() != "":
		main.edit.set(writeID, text(id))
	}
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(requestToken(id))}
	for _, w := range writes {
		in.TransactItems = append(in.TransactItems, t.part(w))
	}
	for _, k := range drop {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Delete: &types.Delete{TableName: t.name, Key: k.item()}})
	}
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		_, err := t.client.TransactWriteItems(ctx, in, once)
		if err == nil {
			return nil
		}
		is := classify(err)
		if is == condition {
			r := refusalOf(err)
			if written(r.found[0], id) {
				return nil
			}
			return r
		}
		// The request token makes a repetition harmless for ten minutes: after
		// an unknown answer the table says what became of the first try.
		if is == hopeless || try == mostTries || ctx.Err() != nil {
			return explain(*t.name, op, err)
		}
		if err := t.pause(ctx, fault.Backoff(firstPause, try, t.ids.Jitter())); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
}

// requestToken is of one call, not of one attempt on a chunk: a caller that
// comes again is told by the condition that it was there before, like
// everybody else.
func requestToken(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// part is one write of a transaction.
func (t *Table) part(w write) types.TransactWriteItem {
	names, values := placeholders(w.edit.values, w.condition, w.edit.update())
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	switch update := w.edit.update(); {
	case w.put != nil:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: t.name, Item: maps.Clone(w.put), ConditionExpression: optional(w.condition),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	case update != "":
		return types.TransactWriteItem{Update: &types.Update{
			TableName: t.name, Key: w.key.item(), UpdateExpression: &update, ConditionExpression: optional(w.condition),
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: t.name, Key: w.key.item(), ConditionExpression: optional(w.condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
	}}
}

func refusalOf(err error) *refusal {
	var cancelled *types.TransactionCanceledException
	errors.As(err, &cancelled)
	r := &refusal{}
	for _, reason := range cancelled.CancellationReasons {
		r.failed = append(r.failed, orEmpty(reason.Code) == "ConditionalCheckFailed")
		r.found = append(r.found, reason.Item)
	}
	return r
}
