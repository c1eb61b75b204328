package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// runOptions are the flags of the verbs that extract.
type runOptions struct {
	*options
	workers   int
	runID     string
	supersede bool
	reanchor  bool
	summary   string
	force     bool
}

func (o *runOptions) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.workers, "workers", 0, "chunks extracted at the same time (default: the export's parallel)")
	cmd.Flags().StringVar(&o.summary, "summary-output", "", "write the JSON result to this file too")
}

func runCommand(base *options) *cobra.Command {
	o := &runOptions{options: base}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the exports of a config, one after another",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.runID, "run-id", "", "the id of an earlier trigger, to repeat exactly that one")
	cmd.Flags().BoolVar(&o.reanchor, "reanchor", false, "make a new cursor.json if the export's is gone or cannot be read, from what its runs have left")
	cmd.Flags().BoolVar(&o.supersede, "supersede", false, "take over from a run of the export that is still active")
	return cmd
}

func (o *runOptions) run(cmd *cobra.Command) error {
	cfg, err := o.load()
	if err != nil {
		return err
	}
	if o.runID != "" && len(cfg.Exports) != 1 {
		return fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "--run-id names one run: choose its export with -e")
	}
	local, done, err := o.open(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	return o.each(cmd.Context(), local, cfg.Exports, func(ctx context.Context, e exportconfig.Export, p *progress) (runstate.Run, error) {
		return o.start(ctx, local, e, p)
	})
}

// start runs one export. Its run id is the clock's, read once; an id that
// another trigger has is counted up by a millisecond.
func (o *runOptions) start(ctx context.Context, local *wiring.Local, e exportconfig.Export, p *progress) (runstate.Run, error) {
	t := wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: contract.ExportName(e.Name), ConfigURI: o.config, Reanchor: o.reanchor}
	if o.supersede {
		t.OnConflict = "supersede"
	}
	at := local.Clock.Now().Truncate(time.Millisecond)
	for {
		scheduled := contract.NewTime(at)
		t.ScheduledTime = &scheduled
		t.RunID = contract.NewRunID(t.Export, at)
		t.TriggerID = local.IDs.NewID()
		if o.runID != "" {
			return o.repeat(ctx, local, e, t, p)
		}
		p.begin(t.RunID)
		run, err := local.Run(ctx, t, o.workersOf(e))
		if fault.CodeOf(err) != "LAPSTRAKE_RUN_ID_TAKEN" {
			return run, err
		}
		at = at.Add(time.Millisecond)
	}
}

// repeat triggers the run that --run-id names once more: the same run if the
// table knows it, a new one of that id if not.
func (o *runOptions) repeat(ctx context.Context, local *wiring.Local, e exportconfig.Export, t wire.Trigger, p *progress) (runstate.Run, error) {
	t.RunID = contract.RunID(o.runID)
	known, err := local.State.GetRun(ctx, t.RunID)
	if err != nil && !errors.Is(err, runstate.ErrNotFound) {
		return runstate.Run{}, err
	}
	if err == nil {
		t.TriggerID = known.TriggerID
	}
	p.begin(t.RunID)
	return local.Run(ctx, t, o.workersOf(e))
}

func (o *runOptions) workersOf(e exportconfig.Export) int {
	if o.workers > 0 {
		return o.workers
	}
	return max(e.Parallel, 1)
}

// each does one export after another and prints the result of all. A failed
// export does not keep the next one from running; a signal does. The error is
// the most serious one.
func (o *runOptions) each(ctx context.Context, local *wiring.Local, exports []exportconfig.Export, do func(context.Context, exportconfig.Export, *progress) (runstate.Run, error)) error {
	result := newResult(o.config, clock.System{}.Now())
	var failed []error
	for _, e := range exports {
		p := newProgress(o.options, e.Name)
		local.Progress = p.chunk
		limitMemory(o.workersOf(e), e)
		begun := local.Clock.Now()
		run, err := do(ctx, e, p)
		p.end(run, err)
		if err == nil {
			err = o.verdictOf(ctx, local, e, run)
		}
		err = interrupted(ctx, err)
		result.add(e, run, err, local.Clock.Now().Sub(begun))
		if err != nil {
			failed = append(failed, err)
			if len(exports) > 1 {
				o.printError(err)
			}
		}
		if errors.Is(err, wiring.ErrInterrupted) {
			switch {
			case run.Status == runstate.RunSucceeded:
				fmt.Fprintf(o.err, "the run is published; validate with: lapstrake validate -c %s -e %s\n", o.config, e.Name)
			case run.RunID != "":
				fmt.Fprintf(o.err, "resume with: lapstrake resume -c %s%s %s\n", o.config, o.stateFlag(), run.RunID)
			}
			break
		}
	}
	result.finish(local.Clock.Now())
	if err := o.print(result, result.text); err != nil {
		return err
	}
	if o.summary != "" {
		if err := result.store(o.summary); err != nil {
			return fault.Wrap(err, fault.Usage, "LAPSTRAKE_CLI_SUMMARY_OUTPUT", "write the summary to %s", o.summary)
		}
	}
	o.shown = len(exports) > 1
	return mostSerious(failed)
}

// stateFlag is --state as it was given.
func (o *options) stateFlag() string {
	if o.state == "" {
		return ""
	}
	return " --state " + o.state
}

// verdictOf runs the validator over what the run has published, as a
// notification of its marker would.
func (o *runOptions) verdictOf(ctx context.Context, local *wiring.Local, e exportconfig.Export, run runstate.Run) error {
	if run.Outcome == nil || run.Outcome.ManifestFingerprint == "" {
		return nil
	}
	if _, err := local.Validate(ctx, run.Root, run.Prefix); err != nil {
		return fmt.Errorf("validate run %s, which is published: %w", run.RunID, err)
	}
	if run.Verdict == "failed" {
		return fault.New(fault.Integrity, "LAPSTRAKE_VALIDATE_FAILED", "export %q: run %s is published, and its prefix does not verify; see lapstrake validate -e %s", e.Name, run.RunID, e.Name)
	}
	return nil
}

// mostSerious picks the error that the process's exit code speaks of: integrity,
// then internal, refusal, drift, retryable, generic (reference §2.1).
func mostSerious(errs []error) error {
	order := []int{fault.ExitIntegrity, fault.ExitInternal, fault.ExitRefused, fault.ExitDrift, fault.ExitRetryable, fault.ExitGeneric}
	for _, err := range errs {
		if errors.Is(err, wiring.ErrInterrupted) {
			return err
		}
	}
	for _, code := range order {
		for _, err := range errs {
			if fault.ExitCode(err) == code {
				return err
			}
		}
	}
	return nil
}

func resumeCommand(base *options) *cobra.Command {
	o := &runOptions{options: base}
	cmd := &cobra.Command{
		Use:   "resume [RUN_ID]",
		Short: "Continue a run that failed or was killed; what it has completed is kept",
		Args:  cobra.MaximumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return o.resume(cmd, args) },
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "repair a complete run, as lapstrake repair --execute does")
	return cmd
}

func (o *runOptions) resume(cmd *cobra.Command, args []string) error {
	cfg, err := o.load()
	if err != nil {
		return err
	}
	local, done, err := o.open(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	targets, err := o.targets(cmd.Context(), local, cfg, args)
	if err != nil {
		return err
	}
	var exports []exportconfig.Export
	for _, e := range cfg.Exports {
		if targets[contract.ExportName(e.Name)] != "" {
			exports = append(exports, e)
		}
	}
	return o.each(cmd.Context(), local, exports, func(ctx context.Context, e exportconfig.Export, p *progress) (runstate.Run, error) {
		return o.take(ctx, local, e, targets[contract.ExportName(e.Name)], p)
	})
}

// take resumes a run, or with force repairs it.
func (o *runOptions) take(ctx context.Context, local *wiring.Local, e exportconfig.Export, id contract.RunID, p *progress) (runstate.Run, error) {
	t := wire.Trigger{Version: wire.Version, Action: wire.ActionResume, Export: contract.ExportName(e.Name), ConfigURI: o.config, RunID: id, TriggerID: local.IDs.NewID(), Force: o.force}
	p.begin(id)
	run, err := local.Run(ctx, t, o.workersOf(e))
	if err != nil || !o.force {
		return run, err
	}
	return run, o.repaired(ctx, local, e, run)
}

// repaired fails unless the run's parts are all there by now: a repair may have
// been overtaken by another run, or have failed and left what was published.
func (o *runOptions) repaired(ctx context.Context, local *wiring.Local, e exportconfig.Export, run runstate.Run) error {
	d, err := local.Damage(ctx, run)
	if err != nil || len(d.Parts) == 0 {
		return err
	}
	return fault.New(fault.Integrity, "LAPSTRAKE_RUN_NOT_REPAIRED", "export %q: %d parts of run %s are still missing or damaged, the first is %s; the log says why", e.Name, len(d.Parts), run.RunID, d.Parts[0].Path)
}

// targets are the runs to resume or repair, by export: the one that was named,
// or the last run of each export, to be resumed only if it has not succeeded.
func (o *runOptions) targets(ctx context.Context, local *wiring.Local, cfg exportconfig.Config, args []string) (map[contract.ExportName]contract.RunID, error) {
	targets := make(map[contract.ExportName]contract.RunID)
	if len(args) == 1 {
		run, err := local.State.GetRun(ctx, contract.RunID(args[0]))
		if errors.Is(err, runstate.ErrNotFound) {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_RUN_UNKNOWN", "the state table has no run %s; a new run starts from the destination's cursor and loses nothing", args[0])
		}
		if err != nil {
			return nil, err
		}
		targets[run.Export] = run.RunID
		for _, e := range cfg.Exports {
			if e.Name == string(run.Export) {
				return targets, nil
			}
		}
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN", "run %s is of export %q, which %s does not have", run.RunID, run.Export, o.config)
	}
	for _, e := range cfg.Exports {
		name := contract.ExportName(e.Name)
		runs, err := local.State.ListRuns(ctx, name, 1)
		if err != nil {
			return nil, err
		}
		if len(runs) == 1 && (o.force || runs[0].Status != runstate.RunSucceeded) && runs[0].Status != runstate.RunRefused && runs[0].Status != runstate.RunSuperseded {
			targets[name] = runs[0].RunID
		}
	}
	if len(targets) == 0 {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_RUN_NOTHING_TO_RESUME", "no export of %s has a last run that failed or was cut short", o.config)
	}
	return targets, nil
}
