package schedule

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

type digest = xxh3.Uint128

func digestOf(parts ...any) digest { return xxh3.HashString128(fmt.Sprintln(parts...)) }

// digests stand for what is in the bucket and the table, and for what processes
// know.
type digests struct {
	// histories are, by process, the calls that it has made, their fates, and
	// what was there to be seen by each. A handler is deterministic, so two
	// processes with one history are at the same place with the same variables,
	// and wait for the same calls.
	histories map[int]digest

	objects map[string]string // versions and metadata, by key
	bucket  digest
	runs    map[string]digest // everything of a run, by the name that calls give it
	table   digest
}

func newDigests() digests { return digests{histories: make(map[int]digest)} }

func (g *digests) lookAtBucket(s *simulation) {
	g.objects = make(map[string]string)
	var all strings.Builder
	err := s.bucket.List(s.ctx, "", func(o destination.Object) error {
		seen := string(o.Version)
		if strings.Contains(o.Key, "part-") {
			head, err := s.bucket.Head(s.ctx, o.Key)
			if err != nil {
				return err
			}
			seen += fmt.Sprint(head.User) // printed by key
		}
		g.objects[o.Key] = seen
		all.WriteString(o.Key + " " + seen + "\n")
		return nil
	})
	if err != nil {
		panic(err)
	}
	g.bucket = xxh3.HashString128(all.String())
}

func (g *digests) lookAtTable(s *simulation) {
	g.runs = make(map[string]digest)
	for n := range 10 {
		id := runID(n)
		run, err := s.table.GetRun(s.ctx, id)
		if err != nil {
			continue
		}
		items := []any{run}
		for shard := range max(run.Shards, 2) { // tasks are put before the run knows of them
			chunks, err := s.table.ListChunks(s.ctx, id, shard)
			if err != nil {
				panic(err)
			}
			leaf, _ := s.table.GetFanin(s.ctx, id, shard)
			items = append(items, chunks, leaf)
		}
		root, _ := s.table.GetFanin(s.ctx, id, runstate.RootShard)
		g.runs[short(id)] = digestOfJSON(append(items, root))
	}
	active, err := s.table.ListActive(s.ctx)
	if err != nil {
		panic(err)
	}
	g.table = digestOf(g.runs, digestOfJSON(active))
}

func digestOfJSON(v any) digest {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return xxh3.Hash128(body)
}

// remember adds a call that is about to be made, and all that its answer
// depends on, to its process's history.
func (g *digests) remember(s *simulation, c *call, f fate) {
	verb, of, _ := strings.Cut(c.op, " ")
	var seen any
	switch {
	case c.bucket && (verb == "list" || verb == "move"):
		seen = g.bucket
	case c.bucket:
		seen = g.objects[of]
	case verb == "read":
		seen = s.source.now
	case verb == "open", verb == "send", verb == "notify":
	default:
		run, _, _ := strings.Cut(of, "/")
		run, _, _ = strings.Cut(run, " ")
		seen = g.table
		if of != "" {
			seen = g.runs[run]
		}
	}
	g.histories[c.p.id] = digestOf(g.histories[c.p.id], c.op, f, s.now, seen)
}

// state is everything on which depends what may follow: what is stored, what
// waits in the queues, the time, what the checker remembers, where each process
// is, whose turn it is, and what is left of the scripts and of the faults.
func (w *watch) state() digest {
	left := []any{w.world(), w.turn}
	for _, x := range w.scripts {
		started := 0
		if x.started != 0 && w.s.process(x.started) != nil {
			started = x.started
		}
		left = append(left, len(x.left), started)
	}
	for _, p := range w.s.processes {
		holds := -1
		if p.message != "" {
			for _, q := range queueNames {
				for i, m := range w.s.queues.Pending(q) {
					if m.ID == p.message {
						holds = i
					}
				}
			}
		}
		left = append(left, p.id, w.histories[p.id], holds)
	}
	return digestOf(left...)
}

// world is the part of the state that is left when every process has ended.
func (w *watch) world() digest {
	s := w.s
	all := []any{w.bucket, w.table, s.now, s.source.now, s.faults - w.faults, s.check.memory()}
	for _, q := range queueNames {
		for _, m := range s.queues.Pending(q) {
			all = append(all, q, s.label(m), m.Due)
		}
	}
	return digestOf(all...)
}

// memory is what the checker remembers beyond what is stored: see
// TestEveryMemoryOfTheCheckerIsPartOfAState.
func (c *checker) memory() digest {
	var b strings.Builder
	for _, key := range sorted(c.objects) {
		o := c.objects[key]
		fmt.Fprintln(&b, key, o.fingerprint, o.gen, o.damaged, o.by)
	}
	for _, id := range sorted(c.plans) {
		fmt.Fprintln(&b, id, c.plans[id].made)
	}
	for _, id := range sorted(c.runs) {
		fmt.Fprintln(&b, id, c.runs[id].Status, c.runs[id].Gen, c.runs[id].Verdict != "")
	}
	for _, run := range sorted(c.chunks) {
		for _, id := range sorted(c.chunks[run]) {
			x := c.chunks[run][id]
			fmt.Fprintln(&b, run, id, x.Status, x.Gen, x.Attempts, x.LeaseToken, x.Live(), x.Range, x.Parts)
		}
	}
	fmt.Fprintln(&b, c.tokens, c.recorded, c.frozen, c.committed, c.opened, c.manifests, c.stood, c.emptied, c.repaired, c.repairing, c.over, c.publications)
	for _, id := range sorted(c.sidecars) {
		fmt.Fprintln(&b, id, c.sidecars[id].prefix, c.sidecars[id].fingerprint)
	}
	for _, prefix := range sorted(c.pairs) {
		fmt.Fprintln(&b, prefix, *c.pairs[prefix])
	}
	fmt.Fprintln(&b, c.cursor.Generation, c.cursor.OwnerRunID, c.cursor.State)
	return xxh3.HashString128(b.String())
}

// What messages are called.
func chunkOf(run int, task string, g contract.Generation) string {
	return fmt.Sprintf("chunk %s of %s generation %d", task, runID(run), g)
}

func finalizeOf(run int, g contract.Generation) string {
	return fmt.Sprintf("finalize %s generation %d", runID(run), g)
}
