package schedule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	destfaulty "github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/faulty"
)

// checker keeps what the world has shown so far and compares every object and
// item that a call has written with it. Nothing is read that was not written.
type checker struct {
	s      *simulation
	broken error // the first invariant that was broken

	objects map[string]object // parts, plans, records and manifests, as they were made
	plans   map[contract.RunID]plan
	// runs and chunks are the table as it was after the last write.
	runs   map[contract.RunID]runstate.Run
	chunks map[contract.RunID]map[contract.TaskID]runstate.Chunk
	tokens map[string]bool
	// recorded are the parts of completed tasks that count, by key.
	recorded map[string]record
	frozen   map[generation]frozen

	cursor contract.CursorDocument
	// publications counts the writes of markers.
	publications int
	committed    map[contract.Generation]contract.RunID
	opened       map[contract.Generation]contract.RunID
	sidecars     map[contract.RunID]sidecar
	manifests    map[generation]contract.Fingerprint // of any success manifest
	stood        map[string]map[contract.Fingerprint]contract.Generation
	pairs        map[string]*pair // by prefix
	emptied      map[contract.RunID]bool
	repaired     map[contract.RunID]bool // by force
	repairing    map[generation]bool     // generations that a forced repair has taken
	// over are the runs that have lost the fence while they were under repair,
	// and whose repair a later run has revoked: what they have recorded since is
	// nobody's.
	over      map[contract.RunID]bool
	delivered deliveries
}

// generation is one life of a run.
type generation struct {
	run contract.RunID
	gen contract.Generation
}

// object is one object as it was made.
type object struct {
	body        []byte
	fingerprint contract.Fingerprint
	user        map[string]string
	part        bool
	by          int // the process that made it
	rows        []row
	gen         contract.Generation // of the attempt that made a part
	damaged     bool
}

// record says whose part an object is.
type record struct {
	run         contract.RunID
	fingerprint contract.Fingerprint
}

type plan struct {
	chunkplan.Plan
	made int // the moment of the source
}

// frozen is what the table held when a run was frozen (T13).
type frozen struct {
	complete bool
	parts    map[string]contract.Fingerprint
	rows     int64
}

type sidecar struct {
	contract.Manifest
	prefix      string
	fingerprint contract.Fingerprint
}

type pair struct {
	manifest contract.Fingerprint
	newest   contract.Generation // of manifest.json
	marked   contract.Generation // of _SUCCESS
}

func newChecker(s *simulation) *checker {
	c := &checker{
		s: s, objects: make(map[string]object), plans: make(map[contract.RunID]plan), tokens: make(map[string]bool),
		frozen: make(map[generation]frozen), committed: make(map[contract.Generation]contract.RunID), opened: make(map[contract.Generation]contract.RunID),
		sidecars: make(map[contract.RunID]sidecar), manifests: make(map[generation]contract.Fingerprint), pairs: make(map[string]*pair), emptied: make(map[contract.RunID]bool), repaired: make(map[contract.RunID]bool), over: make(map[contract.RunID]bool), repairing: make(map[generation]bool),
		delivered: deliveries{make(map[int64]contract.RunID), make(map[int64]contract.RunID)},
		stood:     make(map[string]map[contract.Fingerprint]contract.Generation),
	}
	c.tableLost()
	return c
}

// fail notes the first invariant that was broken.
func (c *checker) fail(invariant, format string, args ...any) {
	if c.broken == nil {
		c.broken = fmt.Errorf("%s: %s", invariant, fmt.Sprintf(format, args...))
	}
}

// tableLost forgets what the table held.
func (c *checker) tableLost() {
	c.runs = make(map[contract.RunID]runstate.Run)
	c.chunks = make(map[contract.RunID]map[contract.TaskID]runstate.Chunk)
	c.recorded = make(map[string]record)
}

// tableSeen returns what puts back what is known of the table: a backup was made.
func (c *checker) tableSeen() (restore func()) {
	runs, recorded, chunks := maps.Clone(c.runs), maps.Clone(c.recorded), cloned(c.chunks)
	return func() {
		c.runs, c.recorded, c.chunks = maps.Clone(runs), maps.Clone(recorded), cloned(chunks)
	}
}

func cloned(chunks map[contract.RunID]map[contract.TaskID]runstate.Chunk) map[contract.RunID]map[contract.TaskID]runstate.Chunk {
	out := make(map[contract.RunID]map[contract.TaskID]runstate.Chunk, len(chunks))
	for run, tasks := range chunks {
		out[run] = maps.Clone(tasks)
	}
	return out
}

// cursorLost forgets the fence: whoever made a new one would start at
// generation 1.
func (c *checker) cursorLost() {
	c.cursor = contract.CursorDocument{}
	clear(c.committed)
	clear(c.opened)
	clear(c.emptied) // the fence alone knew of it
}

// cursorPutBack is told of a copy that an operator has put in the place of the
// fence document: what follows starts from it.
func (c *checker) cursorPutBack(body []byte) {
	c.cursor = documentOf(body)
	clear(c.emptied)
}

func (c *checker) cursorRestored() {
	if held, err := (commit.Fence{Root: c.s.bucket, Export: "orders"}).Read(c.s.ctx); err == nil {
		c.cursor = held.Doc
	}
}

// object checks a write of the bucket that has landed.
func (c *checker) object(p *process, call destfaulty.Call) {
	if c == nil {
		return
	}
	if call.Op == "move" {
		c.moved(p, call.Key, call.To)
		return
	}
	body, _, err := c.s.bucket.Get(c.s.ctx, call.Key, 1<<30)
	if err != nil {
		panic(err)
	}
	name := path.Base(call.Key)
	o := object{body: body, fingerprint: contract.FingerprintOf(body), by: p.id}
	switch {
	case strings.HasPrefix(name, "part-"):
		c.part(p, call.Key, o)
	case strings.HasPrefix(call.Key, contract.RunsDir("orders")):
		if name == "plan.json" || strings.HasPrefix(name, "record-") {
			c.unchanged(call.Key, o)
			c.planned(name, o)
			c.revoked(name, o)
		}
	case name == "cursor.json":
		c.fence(p, body)
	case name == contract.ManifestName:
		c.canonical(strings.TrimSuffix(call.Key, name), o)
	case name == contract.SuccessName:
		c.marker(strings.TrimSuffix(call.Key, name), body)
	case contract.IsSidecarName(name):
		c.sidecar(p, call.Key, o)
	}
}

func (c *checker) planned(name string, o object) {
	if name != "plan.json" {
		return
	}
	p, err := chunkplan.Decode(o.body)
	if err != nil {
		c.fail("V5", "plan.json cannot be read: %v", err)
	}
	if _, known := c.plans[p.RunID]; !known {
		c.plans[p.RunID] = plan{Plan: p, made: c.s.source.now}
	}
}

// revoked notes that a generation of a run was revoked by another run.
func (c *checker) revoked(name string, o object) {
	var record struct {
		Run       contract.RunID      `json:"run_id"`
		RevokedBy contract.Generation `json:"revoked_by"`
	}
	if !strings.HasPrefix(name, "record-") || json.Unmarshal(o.body, &record) != nil || record.RevokedBy == 0 {
		return
	}
	if c.cursor.OwnerRunID == record.Run {
		c.s.saw("a generation is revoked by its own run")
		return
	}
	c.s.saw("a repair is revoked by a later run")
	c.over[record.Run] = true
}

// item checks a write of the table that has landed.
func (c *checker) item(p *process, call faulty.Call) {
	if c == nil {
		return
	}
	if call.Task != "" {
		ids := []contract.TaskID{call.Task}
		switch call.Op {
		case "Split":
			ids = append(ids, call.Task.SplitChild())
		case "Repair":
			ids = append(ids, call.Task.Repair())
		}
		for _, id := range ids {
			now, err := c.s.table.GetChunk(c.s.ctx, call.Run, id)
			if err != nil {
				c.fail("V3", "after %s of task %s: %v", call.Op, id, err)
				return
			}
			c.chunk(p, call.Op, now)
		}
		c.tiles(call.Run, call.Task)
		return
	}
	if call.Op == "FaninAdd" && call.Node == runstate.RootShard {
		c.fanin(call.Run)
	}
	if now, err := c.s.table.GetRun(c.s.ctx, call.Run); err == nil {
		c.run(p, call.Op, now)
	}
}

// fanin is D9: the root of the fan-in tree is full when every task is completed,
// and not before, so that the last worker, and no other, asks for the end. A
// repair does not empty the root again, since the query of F2 is there.
func (c *checker) fanin(run contract.RunID) {
	root, err := c.s.table.GetFanin(c.s.ctx, run, runstate.RootShard)
	if err != nil || !root.Full() || c.s.tableLosses > 0 {
		return
	}
	c.s.saw("a fan-in is full")
	for _, x := range c.chunks[run] {
		if x.RepairOf != "" {
			return
		}
	}
	if _, known := c.plans[run]; known && !c.counted(run).complete {
		c.fail("D9", "the fan-in of run %s is full, and not every task of it is completed", short(run))
	}
}

// ended checks a process that has come to its end by itself.
func (c *checker) ended(p *process, err error) {
	// A table that was put back holds another content of a generation whose record
	// stands: the record keeps it from being published.
	again := c.s.restores > 0 && fault.CodeOf(err) == "LAPSTRAKE_INTERNAL_NOT_DETERMINISTIC"
	if again {
		c.s.saw("a restored table has another content of a generation")
	}
	if fault.CodeOf(err) == commit.CodeCursorOld {
		c.s.saw("an older copy of the fence is refused")
	}
	if fault.ClassOf(err) == fault.Bug && !again {
		c.fail("bug", "%s ends with %v", p.what, err)
	}
	if p.sessions != 0 {
		c.fail("V20", "%s leaves %d sessions of the source open", p.what, p.sessions)
	}
}

// sessions is V20: a process has one session of the source at a time, so that
// the cap on processes is one on sessions.
func (c *checker) sessions(p *process) {
	if c != nil && p.sessions > 1 {
		c.fail("V20", "%s has %d sessions of the source", p.what, p.sessions)
	}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
