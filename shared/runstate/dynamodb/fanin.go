package dynamodb

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// PutFanin is T4.
func (t *Table) PutFanin(ctx context.Context, f runstate.Fanin) error {
	f = transition.NewFanin(f)
	_, err := t.write(ctx, write{
		op: transition.OpPutFanin, key: faninKey(f.RunID, f.Shard), put: t.faninItem(f), condition: missing, repeatable: true,
	})
	var exists *refusal
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// FaninAdd is T11 and T12.
func (t *Table) FaninAdd(ctx context.Context, run contract.RunID, shard int, member string) (runstate.Fanin, error) {
	w := write{op: transition.OpFaninAdd, key: faninKey(run, shard), condition: ifLeaf, repeatable: true}
	w.edit.add("done", members(member))
	w.edit.set("ttl", t.ttl(KeepItems))
	left, err := t.write(ctx, w)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return runstate.Fanin{}, transition.NoFanin(run, shard)
	case err != nil:
		return runstate.Fanin{}, err
	}
	return readFanin(left)
}

// GetFanin returns a node of the fan-in tree.
func (t *Table) GetFanin(ctx context.Context, run contract.RunID, shard int) (runstate.Fanin, error) {
	found, err := t.read(ctx, "GetFanin", faninKey(run, shard))
	if err != nil {
		return runstate.Fanin{}, err
	}
	if found == nil {
		return runstate.Fanin{}, transition.NoFanin(run, shard)
	}
	return readFanin(found)
}
