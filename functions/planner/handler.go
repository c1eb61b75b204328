// Package planner is the function that starts, resumes and sweeps runs. Layer:
// function (no cloud import).
//
// Every step of it may be done again, by a retried trigger, by a duplicate at
// the same time or by the sweep: writes are conditional or harmless twice, and
// the plan is written once (architecture §2.7).
package planner

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Deps is what the handler works with.
type Deps struct {
	Configs      ConfigLoader
	Destinations destination.Opener
	State        runstate.Table
	Queue        taskqueue.Queue
	Sources      source.Opener
	Formats      map[string]partfile.Format
	Notifier     notify.Notifier
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
	Observer     telemetry.Observer
	Settings     Settings
}

// ConfigLoader reads a config. The planner is the only function that does: the
// others read what it has frozen into the plan.
type ConfigLoader interface {
	Load(ctx context.Context, uri string, params map[string]string) (exportconfig.Config, error)
}

// Settings are times and sizes. None of them decides what is right: leases only
// say how soon somebody else may try.
type Settings struct {
	// PlannerTimeout is how long planning may take before the sweep does it
	// again; RunLease how long a run counts as live without a sign of life.
	PlannerTimeout, RunLease time.Duration
	// Heartbeat is how often a planner at work extends its lease by
	// PlannerTimeout; 0 is never, for a planner whose life is limited anyway.
	Heartbeat time.Duration
	// RunTTL fails a run that has neither finished nor failed for so long since
	// it was created or last resumed.
	RunTTL time.Duration
	// Budget is the time that one chunk invocation has; 0 is no limit. It
	// decides whether tasks must be able to split.
	Budget time.Duration
	// PutConcurrency is how many chunk items are put at the same time.
	PutConcurrency int
	// InlineSecrets allows inline secrets in the config: in the CLI only.
	InlineSecrets bool
}

// DefaultSettings are those of architecture §2.8 and §10.
func DefaultSettings() Settings {
	return Settings{
		PlannerTimeout: 15 * time.Minute, RunLease: 15 * time.Minute, RunTTL: 24 * time.Hour,
		PutConcurrency: 64,
	}
}

// Handle does what a trigger asks for. An error that is not in the result means
// that nobody knows whether it is done: the same trigger may be sent again.
func Handle(ctx context.Context, d Deps, t wire.Trigger) (wire.TriggerResult, error) {
	if err := fits(t); err != nil {
		return wire.TriggerResult{}, err
	}
	return handle(ctx, d, t)
}

// handle is Handle for a trigger of any size: that of a run has become longer by
// what the run knows.
func handle(ctx context.Context, d Deps, t wire.Trigger) (wire.TriggerResult, error) {
	switch t.Action {
	case wire.ActionRun:
		return answered(ctx, &planner{Deps: d, trigger: t}, (*planner).start)
	case wire.ActionResume:
		return answered(ctx, &planner{Deps: d, trigger: t}, (*planner).resume)
	case wire.ActionRepair:
		t.Force = true
		return answered(ctx, &planner{Deps: d, trigger: t}, (*planner).resume)
	case wire.ActionSweep:
		return Sweep(ctx, d)
	case wire.ActionValidate:
		return (&planner{Deps: d, trigger: t}).validate(ctx)
	}
	return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_ACTION_UNKNOWN", "action %q is not one of run, resume, repair, sweep and validate", t.Action)
}

// fits refuses a trigger that the item of a run has no room for.
func fits(t wire.Trigger) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if len(body) > wire.MaxTriggerBytes {
		return fault.New(fault.Usage, "LAPSTRAKE_RUN_TRIGGER_TOO_LARGE", "the trigger of export %q has %d bytes, at most %d are kept with a run; nothing was started. Put long params into the config", t.Export, len(body), wire.MaxTriggerBytes)
	}
	return nil
}

// planner is one call of the handler for one run.
type planner struct {
	Deps
	trigger wire.Trigger
	log     *slog.Logger

	export exportconfig.Export
	source exportconfig.Source
	run    runstate.Run
	root   destination.Store
	gen    contract.Generation
	seen   contract.Generation  // of the prefix's manifest, read before the fence
	shown  contract.Fingerprint // of the columns in the prefix's manifest; "" without one
	legacy bool                 // a resume found data of another writer, and no manifest (M6)
}

func (p *planner) name() contract.ExportName { return contract.ExportName(p.export.Name) }

func (p *planner) prefix() destination.Store { return destination.Prefixed(p.root, p.run.Prefix) }

func (p *planner) dispatcher() dispatch.Dispatcher {
	return dispatch.Dispatcher{State: p.State, Queue: p.Queue}
}

func (p *planner) ender() runend.Ender {
	return runend.Ender{Destinations: p.Destinations, State: p.State, Notifier: p.Notifier, Clock: p.Clock, IDs: p.IDs, Log: p.Log, Observer: p.Observer}
}

// validate asks the validator for a verdict on the export's prefix as it is now.
func (p *planner) validate(ctx context.Context) (wire.TriggerResult, error) {
	if err := p.load(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	if exportconfig.RunScoped(p.export.PrefixTemplate) && p.trigger.RunID == "" {
		return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_NO_RUN_ID", "the destination of export %q contains {run_id}: the trigger has to name a run", p.export.Name)
	}
	date := p.Clock.Now()
	if p.trigger.ScheduledTime != nil {
		date = p.trigger.ScheduledTime.Time
	}
	prefix := exportconfig.ResolvePrefix(p.export.PrefixTemplate, p.trigger.RunID, date)
	if err := p.dispatcher().SendValidate(ctx, p.name(), p.export.Destination, prefix); err != nil {
		return wire.TriggerResult{}, err
	}
	return wire.TriggerResult{RunID: p.trigger.RunID, Status: wire.Started}, nil
}

// load reads the config and finds the export of the trigger.
func (p *planner) load(ctx context.Context) error {
	cfg, err := p.Configs.Load(ctx, p.trigger.ConfigURI, p.trigger.Params)
	if err := exportconfig.Concerning(err, string(p.trigger.Export)); err != nil {
		return err
	}
	for _, e := range cfg.Exports {
		if e.Name == string(p.trigger.Export) {
			p.export, p.source = e, cfg.SourceOf(e)
			if !p.Settings.InlineSecrets && (cfg.Source.Inline != exportconfig.InlineSecret{}) {
				return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_INLINE_SECRET", "export %q: the config holds a password or URL in clear; functions take references only (url_env, secretsmanager://, ssm://)", e.Name)
			}
			return nil
		}
	}
	return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN", "the config has no export %q", p.trigger.Export)
}
