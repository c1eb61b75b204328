package main

const (
	resumeFile = "functions/planner/resume.go"
	reviveFile = "functions/planner/revive.go"
)

// resumeMutants break R0 to R6 (architecture §2.7).
var resumeMutants = []mutant{
	{
		name: "complete-run-is-resumed", rule: "M8 gate",
		removes: "a run whose sidecar is a success is not resumed",
		edits: []edit{
			reads(resumeFile, "planner.resume", "case sidecar == nil ||", "case $on || sidecar == nil ||"),
		},
		caughtBy: planning("TestResumeOfACommittedRun"),
	},
	{
		name: "unseen-commit-is-resumed", rule: "R1b",
		removes:  "a resume looks at the own sidecar again once it has claimed the run",
		edits:    []edit{reads(resumeFile, "planner.resumeClaimed", "case sidecar != nil: // a finalizer", "case sidecar != nil && !$on: // a finalizer")},
		caughtBy: planning("TestResumeFindsACommitAfterItsClaim"),
	},
	{
		name: "moves-under-another-owner", rule: "R5, ADR-0004",
		removes:  "nothing is moved by a planner that has lost the fence",
		edits:    []edit{holds(reviveFile, "planner.mayMove", "!held.Owns(p.run.RunID, p.gen)", "false")},
		caughtBy: planning("TestSleepingResumeOfALostDocumentMovesNothing"),
	},
	{
		name: "moves-of-a-committed-run", rule: "R5, V16",
		removes:  "nothing of a run is moved that has committed meanwhile",
		edits:    []edit{holds(reviveFile, "planner.mayMove", "err == nil && m != nil && m.Status == contract.StatusSuccess", "false")},
		caughtBy: planning("TestResumeMovesNothingOfARunThatCommitsMeanwhile"),
	},
	{
		name: "stale-plan-is-resumed", rule: "R0",
		removes:  "a plan made from another position is not resumed",
		edits:    []edit{reads(resumeFile, "planner.resumeClaimed", "if planned {", "if planned && !$on {")},
		caughtBy: planning("TestStalePlanIsNotResumed"),
	},
	{
		name: "fence-before-the-claim", rule: "T17a", core: true,
		removes:  "a resume is claimed in the table before it takes a generation",
		edits:    []edit{ahead(resumeFile, "planner.resume", "answer, err := p.claimResume(ctx)", "if _, err := p.fence().Resume(ctx, commit.Owner{RunID: p.run.RunID, Prefix: p.run.Prefix}, func(contract.CursorDocument) error { return nil }); err != nil { return p.conclude(ctx, wire.TriggerResult{}, err) }")},
		caughtBy: planning("TestResumeIsRefused"),
	},
	{
		name: "lost-claim-is-another-s", rule: "T17a, V17",
		removes:  "a resume whose claim was answered into the void goes on",
		edits:    []edit{holds(resumeFile, "planner.claimResume", "found.Status == runstate.RunPlanning && found.TriggerID == request", "false")},
		caughtBy: planning("TestPlannerKnowsItsOwnWork/a claim"),
	},
	{
		name: "resume-puts-no-tasks", rule: "R2b", core: true,
		removes:  "a resume puts the tasks that its dead planner did not",
		edits:    []edit{reads(reviveFile, "planner.reviveTasks", "p.putTasks(ctx, plan)", "func() error { if $on { return nil }; return p.putTasks(ctx, plan) }()")},
		caughtBy: planning("TestResumePutsTheTasksThatAreMissing"),
	},
	{
		name: "leases-not-revoked", rule: "R3",
		removes:  "a resume revokes the leases of older generations",
		edits:    []edit{holds(reviveFile, "planner.reviveTasks", "c.Status != runstate.ChunkCompleted && c.Gen < p.gen", "false")},
		caughtBy: planning("TestResumeRevokesBeforeItLists"),
	},
	{
		name: "quarantine-before-revoke", rule: "R3, R5", core: true,
		removes:  "leases are revoked before the prefix is looked at",
		edits:    []edit{ahead(reviveFile, "planner.reviveTasks", "for _, c := range chunks { if c.Status != runstate.ChunkCompleted && c.Gen < p.gen {", "if err := p.compare(ctx, plan, chunks); err != nil { return wire.TriggerResult{}, err }"), reads(reviveFile, "planner.reviveTasks", "if err := p.compare(ctx, plan, chunks); err != nil { // R5", "if err := func() error { if $on { return nil }; return p.compare(ctx, plan, chunks) }(); err != nil { // R5")},
		caughtBy: planning("TestResumeRevokesBeforeItLists"),
	},
	{
		name: "recorded-parts-of-the-first-query", rule: "R4",
		removes:  "what is recorded is read after the leases were revoked",
		edits:    []edit{reads(reviveFile, "planner.reviveTasks", "if chunks, err = dispatch.AllChunks(ctx, p.State, shards); err != nil { // R4", "if first := chunks; $on { chunks = first } else if chunks, err = dispatch.AllChunks(ctx, p.State, shards); err != nil { // R4")},
		caughtBy: planning("TestResumeReadsTheTasksAgainAfterItHasRevoked"),
	},
	{
		name: "prefix-not-compared", rule: "R5, M8",
		removes:  "a resume compares the prefix with what is recorded",
		edits:    []edit{ahead(reviveFile, "planner.compare", "var recorded []runstate.PartRecord", "return nil")},
		caughtBy: planning("TestEveryRowOfTheResumeMatrix"),
	},
	{
		name: "repaired-parts-are-moved-by-two", rule: "R5, V16",
		removes:  "a planner that repaired nothing moves nothing of it",
		edits:    []edit{does(reviveFile, "planner.compare", "found.Moves = slices.DeleteFunc(found.Moves, func(m commit.Move) bool { return owner[m.From] == id })", "")},
		caughtBy: planning("TestMoverThatWasOvertakenMovesNothingThatIsRecorded"),
	},
	{
		name: "superseded-parts-are-recorded", rule: "R4",
		removes:  "the parts of a repaired task do not count",
		edits:    []edit{holds(reviveFile, "planner.compare", "c.Live()", "true")},
		caughtBy: planning("TestResumeMovesWhatARepairHasReplaced"),
	},
	{
		name: "completed-tasks-not-joined-again", rule: "R6, V17",
		removes:  "a resume joins the completed tasks again",
		edits:    []edit{ahead(reviveFile, "planner.reviveTasks", "if err := p.dispatcher().Redrive(", "continue")},
		caughtBy: planning("TestResumeDrivesTheFanInAgain"),
	},
	{
		name: "resume-sends-nothing", rule: "R6, V17",
		removes:  "a resume sends the tasks that are left",
		edits:    []edit{ahead(reviveFile, "planner.reviveTasks", "if err := p.enqueue(ctx, pending)", "return wire.TriggerResult{RunID: p.run.RunID, Status: wire.Started, Chunks: len(pending)}, nil")},
		caughtBy: planning("TestResumeDrivesTheFanInAgain"),
	},
	{
		name: "resume-of-another-database", rule: "R2b",
		removes:  "a resume that has to plan plans from the database of its fence",
		edits:    []edit{holds(resumeFile, "planner.resumeClaimed", "made != nil", "false")},
		caughtBy: simulated("TestResumeReadsNoOtherDatabase"),
	},
	{
		name: "unstarted-run-is-resumed", rule: "R1",
		removes:  "a run that never had a generation is started, not resumed",
		edits:    []edit{holds(resumeFile, "planner.resume", "p.run.Gen == 0", "false")},
		caughtBy: simulated("TestResumeOfACrashAtEveryCall"),
	},
}
