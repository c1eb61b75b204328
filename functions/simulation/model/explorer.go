package model

import "hash/maphash"

// Emit takes one step of a process: the state it leads to, who takes it and
// what it does. The words are constants: a trace is put together from them only
// when a property is violated.
type Emit[S comparable] func(to S, who, what string)

// Model is a rule of the protocol, small enough that every interleaving of its
// processes can be visited.
type Model[S comparable] struct {
	Start S
	// Steps emits every step that some process can take. It must be a pure
	// function of the state, and emit in a fixed order.
	Steps func(from S, emit Emit[S])
	// Violated names the property that a step has broken, or is "".
	Violated func(from, to S) string
	// Ended names the property that does not hold in a state in which no
	// process can take a step, or is "". nil: nothing is asked of such a state.
	Ended func(S) string
}

// Result is what an exploration saw.
type Result struct {
	States   int
	Closed   bool     // every reachable state was visited
	Violated string   // the first property found broken, "" for none
	Trace    []string // the shortest way to it, a step a line
}

// Explore visits the states of a model breadth first, so that a trace is as
// short as it can be, until a property is broken, nothing new is found, or
// bound states have been seen.
func (m Model[S]) Explore(bound int) Result {
	v := visited[S]{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<12)}
	v.add(m.Start, 0)
	for at := 0; at < v.len(); at++ {
		from, broken := *v.state(at), ""
		moved := false
		m.Steps(from, func(to S, _, _ string) {
			moved = true
			if broken != "" || !v.add(to, uint32(at)) {
				return
			}
			if m.Violated != nil {
				broken = m.Violated(from, to)
			}
		})
		if broken != "" {
			return Result{States: v.len(), Violated: broken, Trace: m.trace(&v, v.len()-1)}
		}
		if !moved && m.Ended != nil {
			if broken = m.Ended(from); broken != "" {
				return Result{States: v.len(), Violated: broken, Trace: m.trace(&v, at)}
			}
		}
		if v.len() > bound {
			return Result{States: v.len()}
		}
	}
	return Result{States: v.len(), Closed: true}
}

// trace tells the steps from the start to a state. Only the way is stored, so
// each step is taken again to hear its words.
func (m Model[S]) trace(v *visited[S], last int) []string {
	var way []int
	for at := last; at != 0; at = int(v.parents[at]) {
		way = append(way, at)
	}
	var told []string
	for i := len(way) - 1; i >= 0; i-- {
		line, want := "", *v.state(way[i])
		m.Steps(*v.state(int(v.parents[way[i]])), func(to S, who, what string) {
			if line == "" && to == want {
				line = who + ": " + what
			}
		})
		told = append(told, line)
	}
	return told
}

// visited is a set of states in the order of their discovery. A slot holds the
// upper half of a state's hash and one more than its index, and states are kept
// in blocks that are never moved: a million of them cost their own size and a
// few bytes each.
type visited[S comparable] struct {
	seed    maphash.Seed
	slots   []uint64
	blocks  [][]S
	parents []uint32
}

const blockSize = 1 << 14

func (v *visited[S]) len() int { return len(v.parents) }

func (v *visited[S]) state(i int) *S { return &v.blocks[i/blockSize][i%blockSize] }

// add reports whether the state is new.
func (v *visited[S]) add(s S, parent uint32) bool {
	if 4*v.len() >= 3*len(v.slots) {
		v.grow()
	}
	hash := maphash.Comparable(v.seed, s)
	mask := uint64(len(v.slots) - 1)
	at := hash & mask
	for ; v.slots[at] != 0; at = (at + 1) & mask {
		if v.slots[at]>>32 == hash>>32 && *v.state(int(uint32(v.slots[at])) - 1) == s {
			return false
		}
	}
	if v.len()%blockSize == 0 {
		v.blocks = append(v.blocks, make([]S, 0, blockSize))
	}
	last := &v.blocks[len(v.blocks)-1]
	*last = append(*last, s)
	v.parents = append(v.parents, parent)
	v.slots[at] = hash>>32<<32 | uint64(v.len())
	return true
}

func (v *visited[S]) grow() {
	v.slots = make([]uint64, 2*len(v.slots))
	mask := uint64(len(v.slots) - 1)
	for i := range v.len() {
		hash := maphash.Comparable(v.seed, *v.state(i))
		at := hash & mask
		for v.slots[at] != 0 {
			at = (at + 1) & mask
		}
		v.slots[at] = hash>>32<<32 | uint64(i+1)
	}
}
