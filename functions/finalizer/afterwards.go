package finalizer

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/report"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// afterwards is F13 to F17, in the order of I8: verdict, report, notification.
// The run has succeeded, and nothing here can change that: each step is tried
// once and logged. A step that was cut short is done again by a redelivery, and
// so is all of it while a callback waits for its answer.
func (f *finalizer) afterwards(ctx context.Context) (wire.Outcome, error) {
	verdict := f.verdict(ctx)
	f.report(ctx, verdict)
	if err := f.tell(ctx, verdict); err != nil {
		return wire.Outcome{}, err
	}
	err := f.State.MarkNotified(ctx, f.run.RunID)
	if err != nil && !errors.Is(err, runstate.ErrCondition) {
		return wire.Outcome{}, err
	}
	return wire.Done("run %s is published: %s", f.run.RunID, f.run.Verdict), nil
}

// verdict is F13: what a reader of the prefix would find now. A successor may
// have published since; then this run's own verdict is no longer to be had.
func (f *finalizer) verdict(ctx context.Context) *verify.Result {
	if f.run.Outcome == nil || f.run.Outcome.ManifestFingerprint == "" {
		return nil // an empty run that publishes nothing
	}
	content := f.loadPlan(ctx) == nil && f.plan.Export.Verify == "content"
	r, err := verify.Verify(ctx, f.prefix, verify.Options{Depth: verify.Sample, Required: true, Prefix: f.run.Prefix, VerifyContent: content})
	if err = errors.Join(err, r.Unanswered); err != nil {
		f.log.Warn("the published prefix could not be verified; the validator does it when it sees the marker", "error", err)
		return nil
	}
	if r.Fingerprint != f.run.Outcome.ManifestFingerprint {
		f.log.Info("a newer run has published here: no verdict on this one", "manifest", r.Fingerprint)
		return nil
	}
	f.run.Verdict = "failed"
	if r.Verification.Passed {
		f.run.Verdict = "passed"
	}
	if _, err := f.State.NoteRun(ctx, f.run.RunID, runstate.Note{Verdict: &f.run.Verdict}); err != nil {
		f.log.Warn("the verdict could not be noted", "error", err)
	}
	return &r
}

// report is F15.
func (f *finalizer) report(ctx context.Context, verdict *verify.Result) {
	if err := f.loadPlan(ctx); err != nil {
		f.log.Warn("no report without the plan", "error", err)
		return
	}
	chunks, err := dispatch.AllChunks(ctx, f.State, f.run)
	if err != nil {
		f.log.Warn("no report without the chunks", "error", err)
		return
	}
	in := report.Input{Run: f.run, Chunks: chunks, Plan: f.plan}
	if verdict != nil {
		in.Verification = &verdict.Verification
		in.Manifest = &verdict.Manifest
	}
	if err := report.Store(ctx, f.root, in); err != nil {
		f.log.Warn("the report could not be stored", "error", err)
	}
}

// tell is F16. An error is that of a callback that waits: the run is told of
// again, and counts as notified only then.
func (f *finalizer) tell(ctx context.Context, verdict *verify.Result) error {
	e := runend.EventOf(notify.RunEnded, f.run)
	e.SchemaChanged = f.planFP != "" && f.plan.SchemaChanged()
	if verdict != nil {
		for _, finding := range verdict.Verification.Failures {
			e.Findings = append(e.Findings, finding.Kind.Code())
		}
	}
	return runend.Tell(ctx, f.Notifier, f.log, e)
}
