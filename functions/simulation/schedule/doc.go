// Package schedule runs the real planner, chunk, finalizer, validator and sweep
// over stores in memory, one call of one process at a time, in an order and
// with faults that a seed chooses, and checks the invariants V1 to V20 of the
// protocol after every call. It has tests only. Layer: function.
//
//	make simulate SEEDS=100000            more seeds than a test run
//	go test ./functions/simulation/schedule -run Simulation -seed 4711
//	make explore                          every schedule of small scopes
//
// A [simulation] is one world and the processes in it. Whatever happens in it
// is a [decision]; a [chooser] takes them: at random, from a list, or in any
// order of its own. The same decisions give the same calls. When a decision
// does not apply, because the process or the message that it names is not
// there, it is passed over, so a list stays a list when decisions are taken out
// of it: that is how a failing trace is shrunk.
//
// An [exploration] takes every decision that there is: it visits all schedules
// of a [scope] with at most so many preemptions and faults. See
// docs/protocol-models.md.
//
// Row events have versions, so that what a run must deliver is decidable while
// the source changes: every task holds exactly the rows of its range at the
// moment of its read, and every row that nobody touched between the plan and
// the commit is in the manifest once. A key is never in a manifest twice.
package schedule
