// Package validator is the function that judges a prefix when a success marker
// appears in it. Layer: function (no cloud import).
//
// Events come more than once and overtake one another, so it judges what the
// prefix holds now, and binds its verdict to the manifest that it saw (§5.3,
// QUE-17). It reads the destination only: no table, no source.
package validator

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// PendingSeconds is how long a prefix is left alone whose marker is not of its
// manifest yet. The handler does not count: the queue's greatest number of
// deliveries, 6, bounds the waiting, and its dead-letter alarm tells what did
// not settle.
const PendingSeconds = 60

// looks bounds how often a prefix that changes under the handler is looked at
// in one delivery.
const looks = 3

// Deps is what the handler works with.
type Deps struct {
	Destinations destination.Opener
	Notifier     notify.Notifier
	Clock        clock.Clock
	Log          *slog.Logger
	// Observer is told of every final verdict, for metrics; nil for none.
	Observer Observer
}

// Observer is told of verdicts.
type Observer interface {
	Judged(ctx context.Context, d verify.Document)
}

// Handle judges the prefix of m and stores a final verdict beside the run's
// report, once for each manifest: a repeated delivery finds it and does
// nothing. A prefix that is being published is handed back (see
// PendingSeconds). Where no control folder of the export can be found (output
// of the upstream, a legacy prefix, a damaged manifest) the verdict goes to the
// log and the notifier only.
//
// An error is one of the infrastructure or of the message: the outcome says
// what becomes of the message.
func Handle(ctx context.Context, d Deps, m wire.ValidateTask) (wire.Outcome, error) {
	prefix, err := parsePrefix(m.Prefix)
	if err != nil {
		return retry(err), err
	}
	if inControlFolder(prefix) {
		return wire.Done("%s is in a folder of control objects: nothing to judge", m.Prefix), nil
	}
	bucket, err := d.Destinations.Open(ctx, m.Root)
	if err != nil {
		return retry(err), err
	}
	h := handler{
		Deps: d, task: m, prefix: prefix, bucket: bucket, store: destination.Prefixed(bucket, prefix),
		log: d.Log.With("root", m.Root.URI, "prefix", prefix),
	}
	out, err := h.handle(ctx)
	if err != nil {
		return retry(err), err
	}
	return out, nil
}

type handler struct {
	Deps
	task   wire.ValidateTask
	prefix string            // below the bucket, "" or ending in "/"
	bucket destination.Store // where the message says
	store  destination.Store // at the prefix
	log    *slog.Logger
}

func (h *handler) handle(ctx context.Context) (wire.Outcome, error) {
	first, err := verify.Verify(ctx, h.store, verify.Options{Depth: verify.Light, Prefix: h.task.Prefix})
	if err != nil {
		return wire.Outcome{}, err
	}
	at, err := h.locate(ctx, first)
	if err != nil {
		return wire.Outcome{}, err
	}
	if judged, err := at.judged(ctx); judged || err != nil {
		return wire.Done("run %s: the manifest has its verdict already", first.Manifest.RunID), err
	}
	for range looks {
		r, err := verify.Verify(ctx, h.store, verify.Options{Depth: verify.Sample, Prefix: h.task.Prefix})
		switch {
		case err != nil:
			return wire.Outcome{}, err
		case r.Unanswered != nil:
			return wire.Outcome{}, fmt.Errorf("verify %s: %w", h.task.Prefix, r.Unanswered)
		}
		if at, err = h.locate(ctx, r); err != nil {
			return wire.Outcome{}, err
		}
		state, err := h.settled(ctx, at, r)
		switch {
		case err != nil:
			return wire.Outcome{}, err
		case state == pending:
			return h.wait(ctx, r), nil
		case state == final:
			return h.judge(ctx, at, r)
		}
	}
	return wire.Again(PendingSeconds, "%s changes while it is looked at", h.task.Prefix), nil
}

// wait hands the message back.
func (h *handler) wait(ctx context.Context, r verify.Result) wire.Outcome {
	h.log.Info("the marker is not of the manifest yet", "run_id", r.Manifest.RunID, "manifest", r.Fingerprint, "marker", r.MarkerFingerprint)
	h.notify(ctx, r, "pending")
	return wire.Again(PendingSeconds, "run %s is being published: %s", r.Manifest.RunID, contract.VerdictSuccessStale.Code())
}

// judge makes r the verdict on its manifest.
func (h *handler) judge(ctx context.Context, at place, r verify.Result) (wire.Outcome, error) {
	if at.refusal != "" {
		r.Verification.Add(contract.Detailed(contract.VerdictManifestInconsistent, "%s", at.refusal))
	}
	if at.content {
		r.RequireContent()
	}
	doc := verify.NewDocument(r, at.prefix, contract.NewTime(h.Clock.Now()))
	switch {
	case !at.ours:
		h.log.Info("the verdict is not stored: the control folder of the export is not here", "control", r.Manifest.Control)
	case r.Marker == verify.MarkerAbsent:
		h.log.Info("the verdict is not stored: the manifest has no marker yet, and that one's event brings a verdict")
	default:
		stored, err := at.store(ctx, doc)
		if err != nil {
			return wire.Outcome{}, err
		}
		if !stored {
			return wire.Done("run %s: the manifest has its verdict already", doc.RunID), nil
		}
	}
	h.report(doc)
	if h.Observer != nil {
		h.Observer.Judged(ctx, doc)
	}
	h.notify(ctx, r, string(doc.Verdict))
	return wire.Done("%s: %s", h.task.Prefix, doc.Verdict), nil
}

func (h *handler) report(d verify.Document) {
	level, v := slog.LevelInfo, d.Verification
	if d.Verdict != verify.Passed {
		level = slog.LevelWarn
	}
	h.log.Log(context.Background(), level, "verdict", "verdict", d.Verdict, "export", d.Export, "run_id", d.RunID, "gen", d.Generation,
		"manifest", d.ManifestFingerprint, "rows", d.RowCount, "parts_verified", v.PartsVerified, "parts_proven", v.PartsMD5Verified, "parts_failed", v.PartsFailed,
		"legacy_run", v.LegacyRun, "untracked", d.UntrackedObjects, "other_objects", d.OtherObjects, "findings", codes(v))
}

// notify tells whoever wants to know. A failure is logged: the verdict stands.
func (h *handler) notify(ctx context.Context, r verify.Result, status string) {
	err := h.Notifier.Notify(ctx, notify.Event{
		Kind: notify.Validated, Export: r.Manifest.ExportName, RunID: r.Manifest.RunID, Status: status,
		Prefix: joinURI(h.task.Root.URI, h.prefix), ManifestFingerprint: r.Fingerprint,
		Rows: r.Manifest.RowCount, Parts: r.Manifest.PartCount, Findings: codes(r.Verification),
	})
	if err != nil {
		h.log.Warn("notification failed", "error", err)
	}
}

// codes lists what was found, each kind once, fatal ones first.
func codes(v contract.ManifestVerification) []string {
	var fatal, notes []string
	seen := make(map[contract.VerdictKind]bool)
	for _, f := range v.Failures {
		switch {
		case seen[f.Kind]:
		case f.Kind.Fatal():
			fatal = append(fatal, f.Kind.Code())
		default:
			notes = append(notes, f.Kind.Code())
		}
		seen[f.Kind] = true
	}
	return append(fatal, notes...)
}

// settledState says whether a verdict can be given now.
type settledState int

const (
	final   settledState = iota
	pending              // a publication is under way
	moved                // it has changed since it was looked at
)

// settled tells a marker that was left behind from one that is about to be
// replaced: a run writes its manifest, then its marker, and only then commits
// its cursor. So a stale marker is pending while the fence says that somebody
// may be between the two, and the manifest is truly that of the run that it
// names; and it is final once the fence says that nobody is, if the same pair
// is still there afterwards.
func (h *handler) settled(ctx context.Context, at place, r verify.Result) (settledState, error) {
	if r.Marker != verify.MarkerStale || !at.ours || otherFatal(r) {
		return final, nil
	}
	_, sidecar, err := commit.ReadSidecar(ctx, h.store, r.Manifest.RunID)
	switch {
	case err != nil && fault.Retry(err):
		return 0, err
	case err == nil && at.fence.Doc.State != contract.FenceCommitted && sidecar != nil && contract.FingerprintOf(sidecar) == r.Fingerprint:
		return pending, nil
	}
	again, err := verify.Verify(ctx, h.store, verify.Options{Depth: verify.Light, Prefix: h.task.Prefix})
	switch {
	case err != nil:
		return 0, err
	case again.Unanswered != nil:
		return 0, again.Unanswered
	case again.Marker == verify.MarkerStale && again.Fingerprint == r.Fingerprint && again.MarkerFingerprint == r.MarkerFingerprint:
		return final, nil
	}
	return moved, nil
}

func otherFatal(r verify.Result) bool {
	for _, f := range r.Verification.Failures {
		if f.Kind.Fatal() && f.Kind != contract.VerdictSuccessStale {
			return true
		}
	}
	return false
}

func retry(err error) wire.Outcome {
	if fault.Retry(err) {
		return wire.Again(PendingSeconds, "%v", err)
	}
	return wire.Outcome{Kind: wire.Fatal, Detail: err.Error()}
}
