// Package transacted is a runstate.Table over any store with transactions: it
// applies the rules of package transition to items that a driver reads and
// puts. Layer: L3 (persistence).
package transacted

import (
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Store keeps items. View and Update call fn once and return its error. An
// Update is alone: no other transaction sees or changes anything meanwhile;
// it is kept whole when fn returns nil, and not at all otherwise.
type Store interface {
	View(fn func(Items) error) error
	Update(fn func(Items) error) error
}

// Items is what a transaction reads and puts. An item that is not there is
// nil. Items that were read or put share no memory with those that are kept.
type Items interface {
	Run(contract.RunID) (*runstate.Run, error)
	PutRun(runstate.Run) error
	// Runs returns the runs of an export, in any order.
	Runs(contract.ExportName) ([]runstate.Run, error)

	Chunk(contract.RunID, contract.TaskID) (*runstate.Chunk, error)
	PutChunk(runstate.Chunk) error
	// Chunks returns the chunks of a shard in ascending order of ids.
	Chunks(run contract.RunID, shard int) ([]runstate.Chunk, error)

	Fanin(run contract.RunID, shard int) (*runstate.Fanin, error)
	PutFanin(runstate.Fanin) error

	// Actives returns the ACTIVE items in any order.
	Actives() ([]runstate.Active, error)
	PutActive(runstate.Active) error
	DropActive(contract.RunID) error
}
