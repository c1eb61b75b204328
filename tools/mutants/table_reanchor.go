package main

const reanchorFile = "shared/commit/reanchor.go"

// reanchorMutants break the making of a new fence document (ADR-0004), and the
// rule that a fence names the life of the run that took it (ADR-0006).
var reanchorMutants = []mutant{
	{
		name: "document-is-made-unasked", rule: "ADR-0004",
		removes:  "a new document is made only when a trigger asks for it",
		edits:    []edit{holds(acquireFile, "Acquisition.Acquire", "a.Reanchor && lostDocument(err)", "lostDocument(err)")},
		caughtBy: planning("TestReanchor"),
	},
	{
		name: "reanchor-on-a-schedule", rule: "ADR-0004",
		removes:  "a trigger that asks for a new document names its run",
		edits:    []edit{holds(startFile, "planner.start", `p.trigger.Reanchor && p.trigger.RunID == ""`, "false")},
		caughtBy: planning("TestReanchor"),
	},
	{
		name: "unreadable-document-is-not-replaced", rule: "ADR-0004",
		removes:  "a document that cannot be read counts as lost",
		edits:    []edit{holds(reanchorFile, "lostDocument", `code == "LAPSTRAKE_STATE_CURSOR_UNREADABLE"`, "false")},
		caughtBy: planning("TestReanchor/the document is truncated"),
	},
	{
		name: "unreadable-document-is-not-kept", rule: "ADR-0004",
		removes:  "what nobody could read is kept",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "if lost != nil { // it is kept", "if lost != nil && !$on { // it is kept")},
		caughtBy: planning("TestReanchor/the document is truncated"),
	},
	{
		name: "old-run-reanchors", rule: "ADR-0004",
		removes:  "a run that has a plan already makes no new document",
		edits:    []edit{holds(reanchorFile, "Acquisition.reanchor", "p.RunID == a.Me.RunID", "false")},
		caughtBy: committing("TestReanchorRefuses/a run that was planned under the lost document"),
	},
	{
		name: "reanchor-seals-nobody", rule: "ADR-0004, V10",
		removes:  "the runs of the lost document are sealed",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "for _, p := range before.plans {", "for _, p := range before.plans { if $on { break }")},
		caughtBy: committing("TestReanchorWhileAnOldRunCommits"),
	},
	{
		name: "reanchor-looks-once", rule: "ADR-0004, V10",
		removes:  "the last success is looked for after the runs were sealed",
		edits:    []edit{ahead(reanchorFile, "Acquisition.reanchor", "doc := contract.CursorDocument{", "left = before")},
		caughtBy: committing("TestReanchorWhileAnOldRunCommits"),
	},
	{
		name: "sealed-runs-are-not-settled", rule: "ADR-0004, V17",
		removes:  "the runs that were sealed are settled at once",
		edits:    []edit{reads(startFile, "planner.takeAndPlan", "range opened.Sealed {", "range opened.Sealed { if $on { break }")},
		caughtBy: planning("TestReanchorSettlesWhatItSeals"),
	},
	{
		name: "generation-of-parts-not-seen", rule: "ADR-0004, V12",
		removes:  "the new generation is above those of all parts",
		edits:    []edit{reads(reanchorFile, "Acquisition.traces", "_, ours := contract.PartGeneration(name); ours {", "_, ours := contract.PartGeneration(name); ours && !$on {")},
		caughtBy: committing("TestReanchorGoesOnFromTheLastSuccess/a part"),
	},
	{
		name: "generation-of-records-not-seen", rule: "ADR-0004, V12",
		removes:  "the new generation is above those of all records",
		edits:    []edit{does(reanchorFile, "Acquisition.traces", "t.saw(contract.RecordGeneration(file))", "")},
		caughtBy: committing("TestReanchorGoesOnFromTheLastSuccess/a record"),
	},
	{
		name: "generation-of-plans-not-seen", rule: "ADR-0004, V12",
		removes:  "the new generation is above those of all plans",
		edits:    []edit{does(reanchorFile, "Acquisition.traces", "t.saw(p.FirstGeneration)", "")},
		caughtBy: committing("TestTracesOfALostDocument/a plan of a run that stored nothing"),
	},
	{
		name: "generation-of-sidecars-not-seen", rule: "ADR-0004, V9",
		removes:  "the new generation is above those of all sidecars",
		edits:    []edit{does(reanchorFile, "Acquisition.sidecarAt", "t.saw(m.Generation)", "")},
		caughtBy: committing("TestTracesOfALostDocument/a success without rows, whose record is gone"),
	},
	{
		name: "generation-of-seals-not-seen", rule: "ADR-0004, V12",
		removes:  "the new generation is above those that have sealed",
		edits:    []edit{holds(reanchorFile, "Acquisition.sidecarAt", "m.SealedBy != nil && m.SealedBy.RunID != a.Me.RunID", "false")},
		caughtBy: committing("TestTracesOfALostDocument/a run that was sealed by one of which nothing else is left"),
	},
	{
		name: "document-keeps-the-highest-generation", rule: "ADR-0004, V12",
		removes:  "the new generation is above the highest",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "Generation: left.generation + 1,", "Generation: left.generation + map[bool]contract.Generation{false: 1}[$on],")},
		caughtBy: committing("TestReanchorGoesOnFromTheLastSuccess/a part"),
	},
	{
		name: "position-of-the-first-success", rule: "ADR-0004, V10",
		removes:  "the new position is the end of the last success",
		edits:    []edit{holds(reanchorFile, "Acquisition.sidecarAt", "t.last == nil || m.Generation > t.last.Generation", "t.last == nil")},
		caughtBy: committing("TestReanchorGoesOnFromTheLastSuccess/the sidecars alone"),
	},
	{
		name: "position-is-forgotten", rule: "ADR-0004, V10",
		removes:  "a new document goes on from the last success",
		edits:    []edit{holds(reanchorFile, "Acquisition.reanchor", "last.Position != nil", "false")},
		caughtBy: committing("TestReanchorGoesOnFromTheLastSuccess/the sidecars alone"),
	},
	{
		name: "position-of-another-export", rule: "ADR-0004, V9",
		removes:  "only sidecars of the export count",
		edits:    []edit{holds(reanchorFile, "Acquisition.sidecarAt", "m.ExportName != a.Fence.Export", "false")},
		caughtBy: committing("TestTracesOfALostDocument/a success of another export"),
	},
	{
		name: "position-of-the-upstream", rule: "ADR-0004",
		removes:  "a success of the upstream is none of ours",
		edits:    []edit{holds(reanchorFile, "Acquisition.sidecarAt", "m.Status == contract.StatusSuccess && m.Generation == 0", "false")},
		caughtBy: committing("TestReanchorBesideTheUpstreamsOutput"),
	},
	{
		name: "reanchor-with-another-cursor", rule: "ADR-0004, CUR-06",
		removes:  "the position of a new document is that of the config's cursor",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "if err := a.checkPosition(doc.Position); err != nil {", "if err := a.checkPosition(doc.Position); err != nil && !$on {")},
		caughtBy: committing("TestReanchorRefuses/another cursor than the last success's"),
	},
	{
		name: "document-replaces-a-good-one", rule: "ADR-0004",
		removes:  "a document that is there is not made anew",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "doc, err := contract.DecodeCursor(lost); err == nil {", "doc, err := contract.DecodeCursor(lost); err == nil && !$on {")},
		caughtBy: committing("TestReanchorFindsTheDocumentPutBack"),
	},
	{
		name: "unreadable-plan-is-passed-over", rule: "ADR-0004",
		removes:  "a run whose plan cannot be read is not passed over",
		edits:    []edit{ahead(reanchorFile, "Acquisition.planIn", "p, err := chunkplan.Decode(body)", "if _, err := chunkplan.Decode(body); err != nil { return chunkplan.Plan{RunID: \"gone\", Prefix: \"gone/\"}, nil }")},
		caughtBy: committing("TestReanchorRefusesAPlanItCannotRead"),
	},
	// The fence names the life that took it.
	{
		name: "fence-of-a-forgotten-life", rule: "ADR-0006",
		removes:  "a fence that was taken for an item which the table has lost is taken again",
		edits:    []edit{holds(acquireFile, "Acquisition.ours", "doc.OwnerCreation == a.Me.Creation", "true")},
		caughtBy: committing("TestForgottenRunIsResumedUnderANewGeneration"),
	},
	{
		name: "fence-stays-released", rule: "ADR-0006, RELEASE",
		removes:  "a fence that was released is taken again, under a new generation",
		edits:    []edit{holds(acquireFile, "Acquisition.ours", "doc.State == contract.FenceOpen", "true")},
		caughtBy: committing("TestReleasedFenceIsTakenAgain"),
	},
	{
		name: "life-takes-its-fence-twice", rule: "ADR-0006",
		removes:  "a life that two planners are at takes one generation",
		edits:    []edit{reads(acquireFile, "Acquisition.ours", "if mine(doc) { // by", "if mine(doc) && !$on { // by")},
		caughtBy: committing("TestOneLifeTakesOneGeneration"),
	},
	{
		name: "sleeping-life-takes-a-generation", rule: "ADR-0006, V17",
		removes:  "a planner whose run has moved on takes no generation for it",
		edits:    []edit{reads(acquireFile, "Acquisition.ours", "return a.StillPlanned(ctx)", "if $on { return nil }; return a.StillPlanned(ctx)")},
		caughtBy: committing("TestFenceOfALifeThatIsOverIsLeftAlone"),
	},
	{
		name: "overtaken-life-takes-the-fence", rule: "TAKE, ADR-0006",
		removes:  "a planner whose run has moved on does not take the fence",
		edits:    []edit{reads(acquireFile, "Acquisition.take", "err := a.StillPlanned(ctx); err != nil", "err := a.StillPlanned(ctx); err != nil && !$on")},
		caughtBy: committing("TestRunThatHasMovedOnDoesNotTakeTheFence"),
	},
	{
		name: "life-not-named-by-take", rule: "ADR-0006",
		removes:  "a fence that is taken names the life that took it",
		edits:    []edit{reads(acquireFile, "Acquisition.take", "OwnerCreation: a.Me.Creation,", "OwnerCreation: map[bool]string{false: a.Me.Creation}[$on],")},
		caughtBy: committing("TestFenceNamesTheLifeThatTookIt/a first run"),
	},
	{
		name: "life-not-named-by-resume", rule: "ADR-0006",
		removes:  "a fence that is taken again names the life that did",
		edits:    []edit{does(fenceFile, "Fence.Resume", "doc.OwnerPrefix, doc.OwnerCreation = me.Prefix, me.Creation", "")},
		caughtBy: committing("TestForgottenRunIsResumedUnderANewGeneration"),
	},
	{
		name: "life-not-named-by-a-new-document", rule: "ADR-0004, ADR-0006",
		removes:  "a new document names the life that made it",
		edits:    []edit{reads(reanchorFile, "Acquisition.reanchor", "OwnerCreation: a.Me.Creation,", "OwnerCreation: map[bool]string{false: a.Me.Creation}[$on],")},
		caughtBy: committing("TestFenceNamesTheLifeThatTookIt/a new document"),
	},
	{
		name: "resume-of-another-life", rule: "ADR-0006",
		removes:  "a planner takes no generation for an item made anew",
		edits:    []edit{holds(startFile, "planner.stillPlanned", "run.Creation == p.run.Creation", "true")},
		caughtBy: planning("TestTwoLivesTakeTurns"),
	},
	{
		name: "resume-of-a-run-on-its-way", rule: "ADR-0006",
		removes:  "a planner takes no generation for a run that has been started",
		edits:    []edit{holds(startFile, "planner.stillPlanned", "run.Status == runstate.RunPlanning", "true")},
		caughtBy: planning("TestSleepingPlannerDoesNotTakeTheFenceOfAStartedRun"),
	},
	{
		name: "resume-of-another-claim", rule: "ADR-0006",
		removes:  "a planner takes no generation for a run that another one has claimed",
		edits:    []edit{holds(startFile, "planner.stillPlanned", "run.TriggerID == p.run.TriggerID", "true")},
		caughtBy: planning("TestRepairThatIsClaimedByAnotherTakesNoGeneration"),
	},
}
