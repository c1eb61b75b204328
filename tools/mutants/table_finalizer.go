package main

const (
	finalizeFile   = "functions/finalizer/handler.go"
	completeFile   = "functions/finalizer/complete.go"
	afterwardsFile = "functions/finalizer/afterwards.go"
	settleFile     = "functions/runend/settle.go"
	repairedFile   = "functions/finalizer/repair.go"
	manifestFile   = "shared/commit/manifest.go"
)

// finalizerMutants break F1 to F4 and F11 to F17 (architecture §2.6).
var finalizerMutants = []mutant{
	{
		name: "reported-run-is-reported-again", rule: "F1",
		removes:  "a run that has succeeded and is reported is left alone",
		edits:    []edit{holds(finalizeFile, "finalizer.handle", "run.Status == runstate.RunSucceeded && run.Notified", "false")},
		caughtBy: finalizing("TestFinishedRunIsToldOnce"),
	},
	{
		name: "succeeded-run-not-reported", rule: "F1, I8",
		removes:  "a run that has succeeded and is not reported is reported",
		edits:    []edit{holds(finalizeFile, "finalizer.handle", "run.Status == runstate.RunSucceeded && run.Notified", "run.Status == runstate.RunSucceeded")},
		caughtBy: planning("TestResumeOfACommittedRun"),
	},
	{
		name: "committed-run-not-adopted", rule: "F6, V14",
		removes:  "a run whose sidecar is a success is settled, whatever its item says",
		edits:    []edit{reads(finalizeFile, "finalizer.handle", "case settled.Ending != runend.Undecided:", "case settled.Ending != runend.Undecided && !($on && settled.Ending == runend.Succeeded):")},
		caughtBy: planning("TestCommittedRunThatWasFailedIsSettledByARedelivery"),
	},
	{
		name: "sealed-run-not-superseded", rule: "F6, T16",
		removes:  "a run whose sidecar is a tombstone is superseded",
		edits:    []edit{ahead(finalizeFile, "finalizer.end", "return f.superseded(ctx, s.SealedBy)", `return wire.Done("sealed"), nil`)},
		caughtBy: planning("TestReanchorSettlesWhatItSeals"),
	},
	{
		name: "planned-run-is-finalized", rule: "F1",
		removes:  "a run that is still planned is left alone",
		edits:    []edit{holds(finalizeFile, "finalizer.handle", "run.Status == runstate.RunPlanning", "false")},
		caughtBy: finalizing("TestRunThatIsBeingPlannedIsLeftAlone"),
	},
	{
		name: "absent-tasks-are-complete", rule: "F2, I6", core: true,
		removes:  "a task that was never put is not completed",
		edits:    []edit{ahead(completeFile, "incomplete", "if err := keyspace.Tiles(", "if len(ranges[i]) == 0 { continue }")},
		caughtBy: finalizing("TestRunsThatAreNotComplete"),
	},
	{
		name: "unfinished-tasks-are-complete", rule: "F2, I6, V6",
		removes:  "a run is published when all of its tasks are completed",
		edits:    []edit{ahead(completeFile, "incomplete", "ranges := make(", `return ""`)},
		caughtBy: finalizing("TestRunsThatAreNotComplete"),
	},
	{
		name: "gaps-are-complete", rule: "F2, V3",
		removes:  "the tasks of a run cover its plan without gap or overlap",
		edits:    []edit{holds(completeFile, "incomplete", "err != nil", "false")},
		caughtBy: finalizing("TestRunsThatAreNotComplete"),
	},
	{
		name: "tasks-of-no-plan", rule: "F2, V3",
		removes:  "a task that is not of the plan is not published",
		edits:    []edit{reads(completeFile, "incomplete", "if !ok || base >= len(plan.Tasks) {", "if !ok || base >= len(plan.Tasks) { if $on { continue }")},
		caughtBy: finalizing("TestTaskOfNoPlanIsNotPublished"),
	},
	{
		name: "failed-task-fails-no-run", rule: "F2, V17",
		removes:  "a task that has failed for good fails its run",
		edits:    []edit{holds(completeFile, "finalizer.complete", "c.Live() && c.Exhausted() && f.run.Status == runstate.RunRunning", "false")},
		caughtBy: finalizing("TestRunsThatAreNotComplete"),
	},
	{
		name: "parts-not-looked-for", rule: "F3, M1",
		removes:  "every recorded part is looked for before the run is frozen",
		edits:    []edit{ahead(completeFile, "finalizer.complete", "return f.partsThere(ctx)", "return nil, nil")},
		caughtBy: simulated("TestLostPartIsMadeAgain"),
	},
	{
		name: "repair-not-sent", rule: "F3, V17",
		removes:  "the repair of a part is sent",
		edits:    []edit{ahead(completeFile, "finalizer.partsThere", "again = append(again, c.ID)", "continue")},
		caughtBy: finalizing("TestPartsThatAreGone"),
	},
	{
		name: "lost-part-after-the-freeze", rule: "F4, D10",
		removes:  "a part that is lost after the freeze stops the publication",
		edits:    []edit{holds(completeFile, "finalizer.partsThere", "f.run.Status == runstate.RunFinalizing", "false")},
		caughtBy: finalizing("TestPartsThatAreGone"),
	},
	{
		name: "content-not-asked-for", rule: "F3, M5",
		removes:  "verify: content compares the content",
		edits:    []edit{reads(completeFile, "finalizer.partsThere", `Content: f.plan.Export.Verify == "content"`, `Content: f.plan.Export.Verify == "content" && !$on`)},
		caughtBy: finalizing("TestContentThatCannotBeVerifiedIsNotPublished"),
	},
	{
		name: "another-plan-is-published", rule: "F2",
		removes:  "a run is published by the plan that it was started with",
		edits:    []edit{holds(completeFile, "finalizer.loadPlan", "f.run.PlanFingerprint != fp", "false")},
		caughtBy: finalizing("TestPlanOfAnotherRunIsRefused"),
	},
	{
		name: "bytes-of-the-first-query", rule: "F4, D10", core: true,
		removes:  "the manifest is made of what the table holds after the freeze",
		edits:    []edit{reads(finalizeFile, "finalizer.freezeAndPublish", "if f.chunks, err = dispatch.AllChunks(ctx, f.State, f.run); err != nil {", "if !$on { f.chunks, err = dispatch.AllChunks(ctx, f.State, f.run) }; if err != nil {")},
		caughtBy: finalizing("TestBytesComeFromTheSecondQuery"),
	},
	{
		name: "no-second-look", rule: "F4, I6", core: true,
		removes:  "what the second query says is looked at",
		edits:    []edit{holds(finalizeFile, "finalizer.freezeAndPublish", `missing != ""`, "false")},
		caughtBy: finalizing("TestBytesComeFromTheSecondQuery"),
	},
	{
		name: "counter-and-no-query", rule: "D9, I6", core: true,
		removes:  "the fan-in is a set, and the finalizer looks at the tasks itself",
		edits:    []edit{holds(faninRules, "FaninAdd", "!there", "true"), ahead(completeFile, "incomplete", "ranges := make(", `return ""`)},
		caughtBy: finalizing("TestRunsThatAreNotComplete"),
	},
	{
		name: "manifest-of-now", rule: "D10, V18", core: true,
		removes:  "two finalizers write the same time",
		edits:    []edit{ahead(finalizeFile, "finalizer.freezeAndPublish", "record, err := frozen.Record(", "frozen.FrozenAt = f.Clock.Now()")},
		caughtBy: finalizing("TestFinalizersAnHourApartMakeTheSameBytes"),
	},
	{
		name: "superseded-tasks-are-listed", rule: "M1, V6",
		removes:  "a manifest lists the parts of live tasks only",
		edits:    []edit{holds(manifestFile, "Frozen.live", "c.Live()", "true")},
		caughtBy: committing("TestManifestListsPartsOfLiveTasksInOrder"),
	},
	{
		name: "parts-in-the-order-of-arrival", rule: "D10, V18",
		removes:  "the order of parts depends on nothing but their tasks",
		edits:    []edit{holds(manifestFile, "Frozen.live", "a != b", "false"), holds(manifestFile, "Frozen.live", "out[i].ID < out[j].ID", "false")},
		caughtBy: committing("TestManifestListsPartsOfLiveTasksInOrder"),
	},
	{
		name: "rows-not-counted", rule: "V19",
		removes:  "a manifest whose rows are not those of its tasks is not published",
		edits:    []edit{holds(finalizeFile, "finalizer.freezeAndPublish", "manifest.RowCount != frozen.Rows()", "false")},
		caughtBy: finalizing("TestRowsThatDoNotAddUp"),
	},
	{
		name: "empty-manifest-is-published", rule: "skip_empty",
		removes:  "skip_empty publishes nothing for a run without rows",
		edits:    []edit{holds(finalizeFile, "finalizer.freezeAndPublish", "manifest.RowCount > 0 || !f.plan.Export.SkipEmpty", "true")},
		caughtBy: simulated("TestSkipEmpty"),
	},
	{
		name: "committed-behind-a-failed-life", rule: "F6, V17, ADR-0003",
		removes:  "who commits while another life of the run fails settles it",
		edits:    []edit{reads(finalizeFile, "finalizer.publish", "case done.Ending == commit.Stale && done.Manifest != nil:", "case !$on && done.Ending == commit.Stale && done.Manifest != nil:")},
		caughtBy: planning("TestFinalizerThatCommitsBehindAFailedLifeSettlesTheRun"),
	},
	{
		name: "rolled-forward-run-not-adopted", rule: "F6, T14",
		removes:  "a run that has committed succeeds, whatever its item says",
		edits:    []edit{reads(settleFile, "Ender.Succeed", "Adopted: true", "Adopted: !$on")},
		caughtBy: ending("TestSettleOfAFailedRunThatCommits"),
	},
	{
		name: "success-not-recorded", rule: "F12, V14",
		removes:  "a published run has succeeded",
		edits:    []edit{ahead(settleFile, "Ender.Succeed", "succeeded, err := e.State.SucceedRun(", "return Settled{Ending: Succeeded, Run: run}, nil")},
		caughtBy: finalizing("TestOrderOfPublication"),
	},
	{
		name: "settled-without-its-parts", rule: "M5",
		removes:  "a run that has committed is published only while its parts are there",
		edits:    []edit{ahead(settleFile, "PartsThere", "found, err := verify.Parts(", "return nil")},
		caughtBy: simulated("TestPredecessorWithoutItsPartIsNotRolledForward"),
	},
	{
		name: "committed-run-is-failed", rule: "T15, ADR-0003",
		removes:  "who is about to fail a run looks at its sidecar",
		edits:    []edit{ahead(runendFile, "Ender.settleInstead", "settled, err := e.SettleNewest(", "return Undecided, nil")},
		caughtBy: ending("TestFailLooksAtTheSidecar"),
	},
	{
		name: "late-commit-is-failed", rule: "T15, ADR-0003",
		removes:  "who has failed a run looks at its sidecar again",
		edits:    []edit{reads(runendFile, "Ender.Fail", "if ending, err := e.settleInstead(ctx, failed, f); ending == Succeeded", "if ending, err := e.settleInstead(ctx, failed, f); !$on && ending == Succeeded")},
		caughtBy: ending("TestFailLooksAtTheSidecar"),
	},
	{
		name: "told-before-the-verdict", rule: "I4, I8, V15",
		removes:  "the end of a run is told after its verdict",
		edits:    []edit{ahead(afterwardsFile, "finalizer.afterwards", "verdict := f.verdict(ctx)", "_ = f.tell(ctx, nil)")},
		caughtBy: finalizing("TestOrderOfPublication"),
	},
	{
		name: "verdict-on-another-manifest", rule: "F13",
		removes:  "a run's verdict is on its own manifest",
		edits:    []edit{holds(afterwardsFile, "finalizer.verdict", "r.Fingerprint != f.run.Outcome.ManifestFingerprint", "false")},
		caughtBy: finalizing("TestVerdictIsOnTheRunsOwnManifest"),
	},
	{
		name: "not-marked-as-told", rule: "F17, V17",
		removes:  "a run that was told is marked",
		edits:    []edit{ahead(afterwardsFile, "finalizer.afterwards", "err := f.State.MarkNotified(", `return wire.Done("told"), nil`)},
		caughtBy: finalizing("TestOrderOfPublication"),
	},
	{
		name: "failed-report-fails-the-run", rule: "I7",
		removes:  "a run that has succeeded is told, whatever becomes of its report",
		edits:    []edit{ahead(afterwardsFile, "finalizer.afterwards", "if err := f.tell(ctx, verdict); err != nil", `if _, _, err := f.root.Get(ctx, "_lapstrake/"+string(f.run.Export)+"/runs/"+string(f.run.RunID)+"/summary.json", 1<<20); err != nil { return wire.Outcome{}, err }`)},
		caughtBy: finalizing("TestReportThatFailsStopsNothing"),
	},
}
