package schedule

import (
	"maps"
	"path"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// sidecar checks the commit point of a run: V5, V6, V10, V18, V19 and D15.
func (c *checker) sidecar(p *process, key string, o object) {
	prefix := strings.TrimSuffix(key, path.Base(key))
	m, err := contract.DecodeManifest(o.body)
	if err != nil {
		c.fail("V6", "a sidecar in %s cannot be read: %v", prefix, err)
		return
	}
	switch _, known := c.sidecars[m.RunID]; {
	case c.repairs(m):
		c.s.saw("a repair replaces a sidecar")
		c.repaired[m.RunID] = true
	case known:
		c.unchanged(key, o)
	default:
		c.unchanged(key, o)
		c.commitsInTime(p, m)
	}
	c.objects[key] = o
	c.sidecars[m.RunID] = sidecar{m, prefix, o.fingerprint}
	if m.Status != contract.StatusSuccess {
		return
	}
	c.sameBytes(m, o)
	c.sums(m)
	c.complete(m)
	c.exactlyTheSource(prefix, m)
}

// repairs reports whether a manifest takes the place of the run's last one in a
// forced repair: the one way in which a sidecar changes (ADR-0003). What takes a
// generation for a repair is the fence, whatever the table has become since.
func (c *checker) repairs(m contract.Manifest) bool {
	was := c.sidecars[m.RunID]
	return c.repairing[generation{m.RunID, m.Generation}] &&
		was.Status == contract.StatusSuccess && m.Status == contract.StatusSuccess && m.Generation > was.Generation
}

// commitsInTime is D15: once a run has opened its fence every run before it is
// decided, so that no window of the source is read over one that may still
// commit.
func (c *checker) commitsInTime(p *process, m contract.Manifest) {
	switch {
	case m.Status != contract.StatusSuccess && strings.HasPrefix(p.what, "finalize"):
		c.s.saw("a superseded run's finalizer seals it")
	case m.Status != contract.StatusSuccess:
		c.s.saw("a successor seals")
	default:
		c.s.saw("a run commits")
		for _, g := range sorted(c.opened) {
			if owner := c.opened[g]; g > m.Generation && owner != m.RunID && c.s.cursorLosses == 0 {
				c.fail("D15", "run %s commits generation %d after run %s has opened generation %d", short(m.RunID), m.Generation, short(owner), g)
			}
		}
	}
}

// canonical checks manifest.json: V6, V8 and V18. What it lists was checked
// when the run's sidecar was.
func (c *checker) canonical(prefix string, o object) {
	m, err := contract.DecodeManifest(o.body)
	if err != nil {
		c.fail("V6", "manifest.json in %s cannot be read: %v", prefix, err)
		return
	}
	at := c.pairOf(prefix)
	if m.Generation < at.newest {
		c.fail("V8", "manifest.json in %s went from generation %d to %d", prefix, at.newest, m.Generation)
	}
	c.sameBytes(m, o)
	if own := c.sidecars[m.RunID]; own.fingerprint != o.fingerprint || own.Status != contract.StatusSuccess {
		c.fail("V6", "manifest.json in %s is that of run %s, which has not committed it", prefix, short(m.RunID))
	}
	if c.cursor.OwnerRunID != m.RunID {
		c.s.saw("a predecessor is rolled forward")
	}
	at.newest, at.manifest = m.Generation, o.fingerprint
	if c.stood[prefix] == nil {
		c.stood[prefix] = make(map[contract.Fingerprint]contract.Generation)
	}
	c.stood[prefix][o.fingerprint] = m.Generation
}

// sameBytes is V18.
func (c *checker) sameBytes(m contract.Manifest, o object) {
	key := generation{m.RunID, m.Generation}
	if was, known := c.manifests[key]; known && was != o.fingerprint {
		c.fail("V18", "run %s has two manifests of generation %d", short(m.RunID), m.Generation)
	}
	c.manifests[key] = o.fingerprint
}

// sums is V19.
func (c *checker) sums(m contract.Manifest) {
	var rows int64
	for i, part := range m.Parts {
		rows += part.Rows
		if part.PartID != i+1 {
			c.fail("V19", "part %d of run %s has the id %d", i+1, short(m.RunID), part.PartID)
		}
	}
	if rows != m.RowCount || m.PartCount != len(m.Parts) {
		c.fail("V19", "the manifest of run %s counts %d rows in %d parts, its %d parts hold %d", short(m.RunID), m.RowCount, m.PartCount, len(m.Parts), rows)
	}
}

// freeze notes what the table held at T13.
func (c *checker) freeze(run contract.RunID, g contract.Generation) {
	if _, known := c.frozen[generation{run, g}]; !known {
		c.frozen[generation{run, g}] = c.counted(run)
	}
}

// counted is what the table holds of a run now.
func (c *checker) counted(run contract.RunID) frozen {
	f := frozen{complete: true, parts: make(map[string]contract.Fingerprint)}
	present := 0
	for id, x := range c.chunks[run] {
		if !x.Live() {
			continue
		}
		if x.RepairOf == "" && x.SplitOf == "" || id == "" {
			present++
		}
		f.complete = f.complete && x.Status == runstate.ChunkCompleted
		f.rows += x.Rows
		for _, part := range x.Parts {
			f.parts[part.Path] = part.Fingerprint
		}
	}
	bases := make(map[int]bool)
	for id := range c.chunks[run] {
		base, _ := id.Base()
		bases[base] = true
	}
	f.complete = f.complete && len(bases) == len(c.plans[run].Tasks)
	return f
}

// complete is V6: when a run commits, every task of it is completed or
// superseded, and the manifest lists the parts of those that count. A run that
// the table has lost since, or that was resumed and repaired since, is compared
// with what it was when it was frozen.
func (c *checker) complete(m contract.Manifest) {
	listed := make(map[string]contract.Fingerprint)
	for _, part := range m.Parts {
		if _, twice := listed[part.Path]; twice {
			c.fail("V6", "the manifest of run %s lists %s twice", short(m.RunID), part.Path)
		}
		listed[part.Path] = part.ContentFingerprint
	}
	fits := func(f frozen) bool { return f.complete && f.rows == m.RowCount && maps.Equal(f.parts, listed) }
	now := c.counted(m.RunID)
	if fits(now) {
		return
	}
	then, was := c.frozen[generation{m.RunID, m.Generation}]
	switch {
	case !was:
		c.fail("V6", "run %s commits generation %d without having been frozen", short(m.RunID), m.Generation)
	case !fits(then):
		c.fail("V6", "run %s commits %d rows in %v; when it was frozen its tasks were completed: %v, with %d rows in %v", short(m.RunID), m.RowCount, listed, then.complete, then.rows, then.parts)
	}
}

// exactlyTheSource is V10 as a reader of the manifest sees it: no key twice,
// nothing that the table never held, and every row once that nobody touched
// between the plan and now.
func (c *checker) exactlyTheSource(prefix string, m contract.Manifest) {
	// A row that changes takes a later value of the cursor, which another task
	// may read, later: consistency is per task.
	moves := c.s.top.cursor == "at" || c.s.top.cursor == "time"
	expected := c.expected(m.RunID)
	seen := make(map[row]bool)
	keys := make(map[int64]bool)
	for _, part := range m.Parts {
		o, there := c.objects[prefix+part.Path]
		if !there || o.fingerprint != part.ContentFingerprint {
			c.fail("V4", "the manifest of run %s lists %s, which the store does not have", short(m.RunID), part.Path)
			return
		}
		for _, x := range o.rows {
			if seen[x] || !x.null && keys[x.key] && !moves {
				c.fail("V10", "the manifest of run %s has key %d twice", short(m.RunID), x.key)
			}
			seen[x] = true
			keys[x.key] = keys[x.key] || !x.null
		}
	}
	made := c.plans[m.RunID].made
	for x := range seen {
		if h, known := c.s.source.history[x]; !known || h.until != 0 && h.until <= made {
			c.fail("V10", "the manifest of run %s has %v, which was not there since its plan was made", short(m.RunID), x)
		} else if !expected(x) {
			c.fail("V10", "the manifest of run %s has %v, which is not in its window", short(m.RunID), x)
		}
	}
	for x, h := range c.s.source.history {
		if h.from <= made && h.until == 0 && !seen[x] && expected(x) {
			c.fail("V10", "the manifest of run %s lacks %v, which nobody touched", short(m.RunID), x)
		}
	}
	c.once(m, seen)
}
