package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// consistencyPerTask is the label of a run whose tasks read one snapshot each
// and none together (architecture §4.2).
const consistencyPerTask = "per_task"

// draft is what is known of the source before the fence is taken: enough to
// refuse an export that cannot work, not enough to plan its window.
type draft struct {
	export   exportconfig.Export
	budget   chunkplan.Budget
	source   source.Source
	identity contract.SourceIdentity
	table    source.Table
	choice   chunkplan.Choice
}

func (d *draft) close(ctx context.Context) {
	_ = d.source.Close(context.WithoutCancel(ctx)) // a read-only session: nothing is lost with it
}

// preflight looks at source, types and format. Whatever is wrong with them is
// found before anything at the destination changes.
func (p *planner) preflight(ctx context.Context) (*draft, error) {
	return preflight(ctx, p.Sources, p.Formats, p.Settings, p.source, p.export)
}

func preflight(ctx context.Context, sources source.Opener, formats map[string]partfile.Format, s Settings, cfg exportconfig.Source, export exportconfig.Export) (*draft, error) {
	src, err := sources.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("export %q: %w", export.Name, err)
	}
	d := &draft{source: src, export: export, budget: chunkplan.Budget{Time: s.Budget}}
	if err := d.look(ctx, formats, export); err != nil {
		d.close(ctx)
		return nil, fmt.Errorf("export %q: %w", export.Name, err)
	}
	if d.choice, err = chunkplan.Choose(export, factsOf(d.table), d.budget); err != nil {
		d.close(ctx)
		return nil, err // it names the export
	}
	return d, nil
}

func (d *draft) look(ctx context.Context, formats map[string]partfile.Format, export exportconfig.Export) (err error) {
	if d.identity, err = d.source.Identity(ctx); err != nil {
		return err
	}
	if d.table, err = d.source.Describe(ctx, relationOf(export)); err != nil {
		return err
	}
	format, ok := formats[export.Format]
	if !ok {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_FORMAT_UNKNOWN", "format %q is not known", export.Format)
	}
	return format.Check(partfile.Options{Columns: d.table.Columns, Compression: export.Compression, Level: export.CompressionLevel})
}

func relationOf(export exportconfig.Export) source.Relation {
	r := source.Relation{Query: export.Query, Overrides: export.Columns}
	if export.Query == "" {
		r.Name = export.Table
		if schema, name, dotted := strings.Cut(export.Table, "."); dotted {
			r.Schema, r.Name = schema, name
		}
	}
	return r
}

func factsOf(t source.Table) chunkplan.Facts {
	f := chunkplan.Facts{Kind: t.Kind, Columns: t.Columns, KeyColumns: t.KeyColumns, Rows: t.Rows, Bytes: t.Bytes, Correlation: t.Correlation, Consistency: t.Consistency, OneSnapshot: t.ReadAt != ""}
	for _, k := range t.Keys {
		f.Keys = append(f.Keys, chunkplan.UniqueKey{Name: k.Name, Primary: k.Primary, Columns: k.Columns})
	}
	return f
}

// tasks asks the source for what the choice needs and makes the ranges of plan,
// whose window is fixed.
func (d *draft) tasks(ctx context.Context, plan *chunkplan.Plan) (err error) {
	if plan.Window != nil && plan.Within == nil {
		return nil // there is nothing to read
	}
	if plan.Within != nil {
		rows, err := d.source.EstimateRows(ctx, d.table.Relation, *plan.Limits())
		if err != nil {
			return d.about(err)
		}
		if d.choice, err = d.choice.Sized(rows, d.budget); err != nil {
			return err
		}
		plan.EstimatedRows, plan.EstimatedBytes = d.choice.EstimatedRows(), d.choice.EstimatedBytes()
	}
	var bounds chunkplan.Bounds
	var points []keyspace.Key
	switch d.choice.Cuts {
	case chunkplan.IntegerBounds:
		b, err := d.source.IntegerBounds(ctx, d.table.Relation, d.choice.Key[0])
		if err != nil {
			return d.about(err)
		}
		bounds = chunkplan.Bounds{Min: b.Min, Max: b.Max, Empty: b.Empty}
	case chunkplan.SplitPoints:
		if points, err = d.source.SplitPoints(ctx, d.table.Relation, d.choice.Key, plan.Limits(), d.choice.Pieces); err != nil {
			return d.about(err)
		}
	}
	ranges, warnings, err := d.choice.Tasks(bounds, points)
	plan.Tasks, plan.Diagnostics = ranges, append(plan.Diagnostics, warnings...)
	return err
}

// about names the export in an error of the source.
func (d *draft) about(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("export %q: %w", d.export.Name, err)
}

// plan makes the plan, but for what only a run knows.
func (d *draft) plan(ctx context.Context, cfg exportconfig.Source, since Since) (chunkplan.Plan, error) {
	plan := chunkplan.Plan{PlanVersion: chunkplan.PlanVersion, Export: d.export, Source: cfg, EstimatedRows: d.table.Rows, EstimatedBytes: d.table.Bytes, NotBefore: d.table.Position}
	err := d.window(ctx, &plan, since)
	if err == nil {
		err = d.tasks(ctx, &plan)
	}
	if err != nil {
		return plan, err
	}
	plan.RunScoped = exportconfig.RunScoped(d.export.PrefixTemplate)
	plan.Engine = d.identity.Engine
	plan.Schema, plan.Table, plan.Query = d.table.Relation.Schema, d.table.Relation.Name, d.table.Relation.Query
	plan.SourceIdentity = d.identity
	plan.Columns = d.table.Columns
	plan.SchemaFingerprint = contract.SchemaFingerprint(plan.Columns)
	plan.Strategy, plan.Key, plan.Unique, plan.Splittable = d.choice.Strategy, d.choice.Key, d.choice.Unique, d.choice.Splittable
	plan.Consistency, plan.ReadAt = cmp.Or(d.table.Consistency, consistencyPerTask), d.table.ReadAt
	plan.Diagnostics = slices.Concat(plan.Diagnostics, d.export.Diagnostics, d.choice.Diagnostics, chunkplan.Readers(d.export, plan.Columns))
	return plan, nil
}

// Preview returns the plan that a run of the export since would have now,
// without starting one: nothing is written anywhere.
func Preview(ctx context.Context, sources source.Opener, formats map[string]partfile.Format, s Settings, cfg exportconfig.Source, export exportconfig.Export, since Since) (chunkplan.Plan, error) {
	d, err := preflight(ctx, sources, formats, s, cfg, export)
	if err != nil {
		return chunkplan.Plan{}, err
	}
	defer d.close(ctx)
	return d.plan(ctx, cfg, since)
}

// makePlan is P6 and P7: it plans the run and stores the plan, or returns the
// one that a planner before it has stored. position is the cursor's, from the
// open fence.
func (p *planner) makePlan(ctx context.Context, d *draft, position *contract.Position) (chunkplan.Plan, contract.Fingerprint, error) {
	if position != nil && !p.export.KeepsPosition() {
		return chunkplan.Plan{}, "", commit.ShapeChanged(p.name(), *position, nil)
	}
	plan, err := d.plan(ctx, p.source, Since{Position: position, Scheduled: p.scheduled()})
	if err != nil {
		return plan, "", err
	}
	plan.RunID = p.run.RunID
	plan.CreatedAt = contract.NewTime(p.Clock.Now())
	plan.Prefix = p.run.Prefix
	plan.FirstGeneration = p.gen
	plan.PublishedSchema = p.shown
	for _, w := range plan.Diagnostics {
		p.log.Warn(w.Message, "code", w.Code)
	}
	return commit.StorePlan(ctx, p.root, plan)
}

// fromPosition refuses a plan of another moment: the rows of its window have been
// delivered since, but for those that came to its last value late, which a later
// window has.
func fromPosition(plan chunkplan.Plan, position *contract.Position) error {
	if plan.Window == nil || position.Equal(plan.Window.From) {
		return nil
	}
	return fault.New(fault.Refused, "LAPSTRAKE_PLAN_STALE", "run %s was planned from another cursor position; run the export again", plan.RunID)
}

// planAndEnqueue is P6 to P11.
func (p *planner) planAndEnqueue(ctx context.Context, d *draft, position *contract.Position) (wire.TriggerResult, error) {
	plan, fp, err := commit.LoadPlan(ctx, p.root, p.name(), p.run.RunID)
	if errors.Is(err, destination.ErrNotFound) {
		plan, fp, err = p.makePlan(ctx, d, position)
	}
	if err == nil { // a run that has committed nothing may live again with the plan of its first life
		err = fromPosition(plan, position)
	}
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.putTasks(ctx, plan); err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.startRun(ctx, plan, fp); err != nil {
		return wire.TriggerResult{}, err
	}
	answer, err := p.enqueueAgain(ctx)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	p.log.Info("run started", "gen", p.gen, "strategy", plan.Strategy, "tasks", len(plan.Tasks))
	return *answer, nil
}
