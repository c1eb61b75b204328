// Package memory is a runstate.Table in maps: for tests, and for the
// simulation. It has no goroutine and no clock, and the same operations in the
// same order give the same table. Layer: L3 (persistence).
package memory

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transacted"
)

// Table is a runstate.Table. Items that a caller holds are its own: changing
// them changes nothing in the table.
type Table struct {
	transacted.Table
	items *store
}

var _ runstate.Table = (*Table)(nil)

// New returns an empty table with runstate.DefaultFaninK tasks in a shard.
func New() *Table { return NewSharded(runstate.DefaultFaninK) }

// NewSharded returns an empty table with k tasks in a shard, so that a test
// with few tasks sees more than one leaf.
func NewSharded(k int) *Table {
	s := &store{k: k}
	s.clear()
	return &Table{Table: transacted.New(s, k), items: s}
}

// DropAll empties the table: the whole of it is lost.
func (t *Table) DropAll() {
	t.items.mu.Lock()
	defer t.items.mu.Unlock()
	t.items.clear()
}

// Snapshot returns what puts the table back to what it is now: a restore from a
// backup, after which whatever was written since is gone. It may be called more
// than once.
func (t *Table) Snapshot() (restore func()) {
	t.items.mu.RLock()
	defer t.items.mu.RUnlock()
	kept := t.items.contents.copied()
	return func() {
		t.items.mu.Lock()
		defer t.items.mu.Unlock()
		t.items.contents = kept.copied()
	}
}

type shardKey struct {
	run   contract.RunID
	shard int
}

// store keeps items by value. What it keeps and what it hands out share no
// slice and no pointer.
type store struct {
	k  int
	mu sync.RWMutex
	contents
}

// contents are the items, by value.
type contents struct {
	runs    map[contract.RunID]runstate.Run
	chunks  map[shardKey]map[contract.TaskID]runstate.Chunk
	fanins  map[shardKey]runstate.Fanin
	actives map[contract.RunID]runstate.Active
}

func (s *store) clear() {
	s.contents = contents{
		runs:    map[contract.RunID]runstate.Run{},
		chunks:  map[shardKey]map[contract.TaskID]runstate.Chunk{},
		fanins:  map[shardKey]runstate.Fanin{},
		actives: map[contract.RunID]runstate.Active{},
	}
}

// copied returns maps of their own; an item is replaced, never changed.
func (c contents) copied() contents {
	chunks := make(map[shardKey]map[contract.TaskID]runstate.Chunk, len(c.chunks))
	for key, tasks := range c.chunks {
		chunks[key] = maps.Clone(tasks)
	}
	return contents{runs: maps.Clone(c.runs), chunks: chunks, fanins: maps.Clone(c.fanins), actives: maps.Clone(c.actives)}
}

func (s *store) View(fn func(transacted.Items) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return fn(s)
}

// Update is whole because no put fails, and the rules are checked before the
// first one.
func (s *store) Update(fn func(transacted.Items) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fn(s)
}

func (s *store) Run(id contract.RunID) (*runstate.Run, error) {
	r, ok := s.runs[id]
	if !ok {
		return nil, nil
	}
	r = cloneRun(r)
	return &r, nil
}

func (s *store) PutRun(r runstate.Run) error {
	s.runs[r.RunID] = cloneRun(r)
	return nil
}

func (s *store) Runs(export contract.ExportName) ([]runstate.Run, error) {
	var list []runstate.Run
	for _, r := range s.runs {
		if r.Export == export {
			list = append(list, cloneRun(r))
		}
	}
	return list, nil
}

func (s *store) shardOf(run contract.RunID, task contract.TaskID) shardKey {
	return shardKey{run, runstate.ShardOf(task, s.k)}
}

func (s *store) Chunk(run contract.RunID, task contract.TaskID) (*runstate.Chunk, error) {
	c, ok := s.chunks[s.shardOf(run, task)][task]
	if !ok {
		return nil, nil
	}
	c = cloneChunk(c)
	return &c, nil
}

func (s *store) PutChunk(c runstate.Chunk) error {
	key := s.shardOf(c.RunID, c.ID)
	if s.chunks[key] == nil {
		s.chunks[key] = map[contract.TaskID]runstate.Chunk{}
	}
	s.chunks[key][c.ID] = cloneChunk(c)
	return nil
}

func (s *store) Chunks(run contract.RunID, shard int) ([]runstate.Chunk, error) {
	kept := s.chunks[shardKey{run, shard}]
	list := make([]runstate.Chunk, 0, len(kept))
	for c := range maps.Values(kept) {
		list = append(list, cloneChunk(c))
	}
	slices.SortFunc(list, func(a, b runstate.Chunk) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list, nil
}

func (s *store) Fanin(run contract.RunID, shard int) (*runstate.Fanin, error) {
	f, ok := s.fanins[shardKey{run, shard}]
	if !ok {
		return nil, nil
	}
	f.Done = slices.Clone(f.Done)
	return &f, nil
}

func (s *store) PutFanin(f runstate.Fanin) error {
	f.Done = slices.Clone(f.Done)
	s.fanins[shardKey{f.RunID, f.Shard}] = f
	return nil
}

func (s *store) Actives() ([]runstate.Active, error) {
	return slices.Collect(maps.Values(s.actives)), nil
}

func (s *store) PutActive(a runstate.Active) error {
	s.actives[a.RunID] = a
	return nil
}

func (s *store) DropActive(run contract.RunID) error {
	delete(s.actives, run)
	return nil
}
