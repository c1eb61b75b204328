// Package prove shows from the objects of a destination alone, without state
// table and without database, that the Success manifests of an export have
// every row that its runs set out to read, and have it once. Layer: L2
// (execution).
//
// For each run it takes the run record that the manifest names: the predicates
// of its tasks have to partition the key space, and the counts of record,
// manifest and parts have to agree. In modes with a cursor the windows of all
// runs have to follow one another.
//
// Bounds are compared for equality only: nobody but the source can order them.
// What is shown rests on three things that no object can tell: that the source
// has returned the cuts in its own order, that a task has read what its
// predicate says, and that rows did not move between the snapshots of the tasks
// (source.extraction.consistency).
package prove

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Options say what is to be proven.
type Options struct {
	Export contract.ExportName
	// Prefix is where manifests are looked for first, below the root and ending
	// in "/" unless empty. Those of runs that were planned for other prefixes
	// are found by their plans.
	Prefix string
	// Run, unless empty, is the only run that is looked at. Its window is then
	// compared with no other one.
	Run contract.RunID
	// Deep also reads every part, hashes it and counts its rows.
	Deep bool
	// Concurrency bounds the runs that are looked at side by side; 8 when 0.
	Concurrency int
}

// Result is what is known of an export.
type Result struct {
	Export contract.ExportName `json:"export_name"`
	Proven bool                `json:"proven"`
	Deep   bool                `json:"deep"`
	// Runs have committed, in the order of their generations.
	Runs []Run `json:"runs"`
	// Windows is how many windows follow one another without gap or overlap;
	// -1 when they were not compared.
	Windows int `json:"windows_chained"`
	// Findings are about no single run.
	Findings []Finding `json:"findings"`
}

// Run is what is known of one run.
type Run struct {
	RunID      contract.RunID      `json:"run_id"`
	Generation contract.Generation `json:"generation"`
	Prefix     string              `json:"prefix"`
	Proven     bool                `json:"proven"`
	// Strategy and Consistency are those of source.extraction; Key is what the
	// predicates are of.
	Strategy    string   `json:"strategy,omitempty"`
	Consistency string   `json:"consistency,omitempty"`
	Key         []string `json:"key,omitempty"`
	// Tasks count, Superseded ones were done again. ReadPositions is how many of
	// those that count say where they read the source.
	Tasks         int       `json:"tasks"`
	Superseded    int       `json:"superseded"`
	ReadPositions int       `json:"read_positions"`
	Parts         int       `json:"parts"`
	Rows          int64     `json:"rows"`
	Window        *Window   `json:"window,omitempty"`
	Findings      []Finding `json:"findings"`
}

// Window is the cursor and its ends; an absent From is the first run's.
type Window struct {
	Cursor string  `json:"cursor"`
	From   *string `json:"from,omitempty"`
	To     *string `json:"to,omitempty"`
}

// Class is the worst class of all findings: whether something contradicts the
// proof, or only lacks.
func (r Result) Class() contract.VerdictClass {
	worst := worstOf(r.Findings)
	for _, run := range r.Runs {
		worst = worst.Worse(worstOf(run.Findings))
	}
	return worst
}

// Prove looks at what root holds of an export. It writes nothing. The error is
// ctx's own, and then nothing is known; a store that does not answer is a
// finding.
func Prove(ctx context.Context, root destination.Store, o Options) (Result, error) {
	if o.Concurrency < 1 {
		o.Concurrency = 8
	}
	p := &prover{root: root, o: o, scanned: make(map[string]bool), settled: make(map[string]bool)}
	p.discover(ctx)
	slices.SortStableFunc(p.published, func(a, b published) int {
		return cmp.Or(cmp.Compare(a.manifest.Generation, b.manifest.Generation), cmp.Compare(a.manifest.RunID, b.manifest.RunID))
	})
	r := Result{Export: o.Export, Deep: o.Deep, Runs: make([]Run, len(p.published)), Windows: -1}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(o.Concurrency)
	for i, m := range p.published {
		g.Go(func() error {
			r.Runs[i] = p.run(inner, m)
			return inner.Err()
		})
	}
	_ = g.Wait() // its only error is that of ctx
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	p.compareRuns(r.Runs)
	if o.Run == "" {
		r.Windows = p.chain()
	}
	if len(r.Runs) == 0 {
		p.find(noManifest, "", "no Success manifest of export %q was found", o.Export)
	}
	r.Findings = p.findings.all()
	for i := range r.Runs {
		r.Runs[i].Proven = worstOf(r.Runs[i].Findings) == contract.VerdictNote
	}
	r.Proven = r.Class() == contract.VerdictNote
	return r, nil
}

type prover struct {
	root destination.Store
	o    Options
	findings

	published []published
	scanned   map[string]bool // prefixes
	settled   map[string]bool // tokens of runs whose sidecar was seen, a tombstone too
}

// published is a success sidecar and where it was found.
type published struct {
	manifest     contract.Manifest
	prefix, name string
}

// compareRuns looks for what two manifests have in common. Each stands for rows
// of its own: what is in both would be loaded twice.
func (p *prover) compareRuns(runs []Run) {
	sidecars := make(map[contract.RunID]string)
	parts := make(map[string]contract.RunID)
	for _, m := range p.published {
		run := m.manifest.RunID
		if at, twice := sidecars[run]; twice {
			p.find(runTwice, "", "run %s has two Success manifests, %s and %s: a loader of both has its rows twice", run, at, m.prefix+m.name)
			continue
		}
		sidecars[run] = m.prefix + m.name
		for _, part := range m.manifest.Committed() {
			key := m.prefix + part.Path
			if other, twice := parts[key]; twice {
				p.find(partTwice, "", "part %s is listed by run %s and by run %s: a loader of both has its rows twice", key, other, run)
				continue
			}
			parts[key] = run
		}
	}
}

// unanswered is the finding for a store that failed.
func (f *findings) unanswered(what string, err error) {
	f.find(storeError, "", "%s: %v", what, err)
}
