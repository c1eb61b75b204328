package runstatetest

import (
	"maps"
	"slices"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// model says again, in the fewest words, what T1 to T20 are: when they hold,
// and what they do to the fields that a condition looks at. One run, and a
// clock that only the test moves.
type model struct {
	id     contract.RunID
	k      int
	now    time.Time
	tokens int // how many were made
	run    *modelRun
	chunks map[contract.TaskID]modelChunk
	nodes  map[int]modelNode
}

type modelRun struct {
	status   runstate.RunStatus
	gen      contract.Generation
	trigger  string
	creation string
	lease    time.Time
	notified bool
}

type modelChunk struct {
	status        runstate.ChunkStatus
	gen           contract.Generation
	attempts, max int
	token         string
	lease         time.Time
	splitInto     contract.TaskID
	supersededBy  contract.TaskID
	rows          int64
}

type modelNode struct {
	expected int
	done     []string
}

// clone is a model of its own, to try a step on.
func (m *model) clone() *model {
	c := *m
	if m.run != nil {
		run := *m.run
		c.run = &run
	}
	c.chunks, c.nodes = maps.Clone(m.chunks), maps.Clone(m.nodes)
	return &c
}

func (m *model) shardOf(id contract.TaskID) int { return runstate.ShardOf(id, m.k) }

func (m *model) tasks() []contract.TaskID { return slices.Sorted(maps.Keys(m.chunks)) }

// changeRun applies change to the run if it is there and holds says yes.
func (m *model) changeRun(holds func(modelRun) bool, change func(*modelRun)) bool {
	if m.run == nil || !holds(*m.run) {
		return false
	}
	change(m.run)
	return true
}

// changeChunk does the same to a chunk.
func (m *model) changeChunk(id contract.TaskID, holds func(modelChunk) bool, change func(*modelChunk)) bool {
	c, there := m.chunks[id]
	if !there || !holds(c) {
		return false
	}
	change(&c)
	m.chunks[id] = c
	return true
}

func (m *model) ends(to runstate.RunStatus, holds func(modelRun) bool) bool {
	return m.changeRun(holds, func(r *modelRun) { r.status = to })
}

func (m *model) put(id contract.TaskID, g contract.Generation, maxAttempts int) bool {
	if _, there := m.chunks[id]; there {
		return false
	}
	m.chunks[id] = modelChunk{status: runstate.ChunkPending, gen: g, max: maxAttempts}
	return true
}

// grow is the part that T9 and T18 share: the child, and a leaf that expects it.
func (m *model) grow(of, child contract.TaskID, g contract.Generation, maxAttempts int) {
	m.put(child, g, maxAttempts)
	leaf := m.nodes[m.shardOf(of)]
	leaf.expected++
	m.nodes[m.shardOf(of)] = leaf
}

func (m *model) add(shard int, member string) bool {
	node := m.nodes[shard]
	if at, there := slices.BinarySearch(node.done, member); !there {
		node.done = slices.Insert(slices.Clone(node.done), at, member)
	}
	m.nodes[shard] = node
	return true
}

func heldBy(token string) func(modelChunk) bool {
	return func(c modelChunk) bool { return c.status == runstate.ChunkRunning && c.token == token }
}

// observe reads the same fields from a table.
func (m *model) observe(f *fixture) model {
	f.t.Helper()
	ctx := f.t.Context()
	seen := model{id: m.id, k: m.k, chunks: map[contract.TaskID]modelChunk{}, nodes: map[int]modelNode{}}
	if r := f.run(m.id); r != nil {
		seen.run = &modelRun{status: r.Status, gen: r.Gen, trigger: r.TriggerID, creation: r.Creation, lease: r.LeaseUntil, notified: r.Notified}
	}
	for shard := range m.nodes {
		node, err := f.table.GetFanin(ctx, m.id, shard)
		f.must(err)
		seen.nodes[shard] = modelNode{expected: node.Expected, done: node.Done}
		if shard == runstate.RootShard {
			continue
		}
		list, err := f.table.ListChunks(ctx, m.id, shard)
		f.must(err)
		for _, c := range list {
			seen.chunks[c.ID] = modelChunk{
				status: c.Status, gen: c.Gen, attempts: c.Attempts, max: c.MaxAttempts, token: c.LeaseToken, lease: c.LeaseUntil,
				splitInto: c.SplitInto, supersededBy: c.SupersededBy, rows: c.Rows,
			}
		}
	}
	return seen
}
