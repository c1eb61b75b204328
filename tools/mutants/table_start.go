package main

const (
	startFile    = "functions/planner/start.go"
	prepareFile  = "functions/planner/prepare.go"
	enqueueFile  = "functions/planner/enqueue.go"
	runendFile   = "functions/runend/runend.go"
	dispatchFile = "functions/dispatch/dispatch.go"
)

// startMutants break P1 to P11 (architecture §2.7) and the end of runs that do
// not succeed.
var startMutants = []mutant{
	{
		name: "another-trigger-s-run-id", rule: "P2",
		removes:  "a run id that another trigger has used is refused",
		edits:    []edit{holds(startFile, "planner.createRun", "found.TriggerID != triggerID", "false")},
		caughtBy: planning("TestRunIDOfAnotherIsRefused/another trigger"),
	},
	{
		name: "another-export-s-run-id", rule: "P2",
		removes:  "a run id that another export has used is refused",
		edits:    []edit{holds(startFile, "planner.createRun", "found.Export != p.name()", "false")},
		caughtBy: planning("TestRunIDOfAnotherIsRefused/another export"),
	},
	{
		name: "running-run-not-sent-again", rule: "P10, V17",
		removes:  "a trigger that comes again sends what its dead planner did not",
		edits:    []edit{holds(startFile, "planner.createRun", "found.Status == runstate.RunRunning && !found.Enqueued", "false")},
		caughtBy: planning("TestTriggerComesAgain/after it was started"),
	},
	{
		name: "run-moves-with-its-config", rule: "P2",
		removes:  "a run stays at the destination that it was created for",
		edits:    []edit{ahead(startFile, "planner.stayAt", "p.export.Destination = root", "root = p.export.Destination; p.run.Root = root")},
		caughtBy: simulated("TestDestinationChangesBetweenTwoPlanners"),
	},
	{
		name: "prefix-not-checked", rule: "P3",
		removes:  "a prefix that belongs to another export is refused before anything is written",
		edits:    []edit{ahead(startFile, "planner.checkPrefix", "m, err := commit.CheckPrefix(", "return nil")},
		caughtBy: planning("TestPrefixIsChecked/another export's"),
	},
	{
		name: "if-success-refuse-ignored", rule: "P3",
		removes:  "if_success: refuse keeps a new run out of a complete prefix",
		edits:    []edit{holds(startFile, "planner.checkPrefix", `p.export.IfSuccess == "refuse"`, "false")},
		caughtBy: planning("TestPrefixIsChecked/complete, and if_success is refuse"),
	},
	{
		name: "dead-owner-blocks", rule: "§2.6 overlap, V17",
		removes:  "an owner whose lease has run out is taken over",
		edits:    []edit{holds(startFile, "planner.mayTake", "owner.LeaseUntil.Before(p.Clock.Now())", "false")},
		caughtBy: planning("TestSealedPredecessorIsFinalized"),
	},
	{
		name: "forgotten-owner-blocks", rule: "§2.6 overlap",
		removes:  "an owner that the table does not know is taken over",
		edits:    []edit{ahead(startFile, "planner.mayTake", "switch { case errors.Is(err, runstate.ErrNotFound):", `if errors.Is(err, runstate.ErrNotFound) { return fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "nobody knows") }`)},
		caughtBy: simulated("TestTableLostAtEveryStep"),
	},
	{
		name: "predecessor-not-settled", rule: "OPEN, V17",
		removes:  "the run that was sealed or rolled forward is settled at once",
		edits:    []edit{holds(startFile, "planner.takeAndPlan", "pred != nil", "false")},
		caughtBy: planning("TestSealedPredecessorIsFinalized"),
	},
	{
		name: "fence-not-recorded", rule: "T2",
		removes:  "the run's item learns its generation before its tasks are put",
		edits:    []edit{ahead(startFile, "planner.recordFence", "err := p.State.RecordFence(", "p.run.Gen = p.gen; return nil")},
		caughtBy: chunking("TestFinalizerIsCalledByTheLastLeaf"),
	},
	{
		name: "leaves-after-tasks", rule: "T4",
		removes:  "the fan-in tree stands before the tasks",
		edits:    []edit{ahead(enqueueFile, "planner.putTasks", "if err := g.Wait(); err != nil { // a task", "_ = g.Wait(); return nil")},
		caughtBy: chunking("TestFinalizerIsCalledByTheLastLeaf"),
	},
	{
		name: "leaf-expects-a-full-shard", rule: "T4, V17",
		removes:  "the last leaf expects the tasks that it has",
		edits:    []edit{reads(enqueueFile, "planner.putTasks", "min(k, n-s*k)", "map[bool]int{true: k, false: min(k, n-s*k)}[$on]")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "enqueued-not-noted", rule: "P11",
		removes:  "a trigger that comes again after its run was sent sends nothing",
		edits:    []edit{ahead(enqueueFile, "planner.enqueue", "enqueued := true", "return nil")},
		caughtBy: planning("TestTriggerComesAgain/after it was sent"),
	},
	{
		name: "empty-run-not-finalized", rule: "P10, V17",
		removes:  "a run that has nothing to read is finalized by its planner",
		edits:    []edit{does(enqueueFile, "planner.enqueue", "err = p.dispatcher().SendFinalize(ctx, ref)", "")},
		caughtBy: planning("TestRunWithNothingToReadIsFinalized"),
	},
	{
		name: "superseded-by-itself", rule: "T16",
		removes:  "no run is superseded by itself, or by nobody",
		edits:    []edit{holds(runendFile, "Ender.Supersede", `lost.OwnerRunID == "" || lost.OwnerRunID == run.RunID`, "false")},
		caughtBy: ending("TestRunIsNotSupersededByItself"),
	},
	{
		name: "tombstone-is-no-proof", rule: "T16, V17",
		removes:  "a run whose own tombstone stands is superseded, at whatever generation it was sealed",
		edits:    []edit{holds(runendFile, "Ender.Supersede", "ending == Superseded", "false")},
		caughtBy: ending("TestSupersedeOfOneGeneration"),
	},
	{
		name: "completed-tasks-sent-again", rule: "P10",
		removes:  "a completed task is not sent again by a planner that goes on",
		edits:    []edit{holds(enqueueFile, "planner.enqueueAgain", "c.Live() && c.Status != runstate.ChunkCompleted", "true")},
		caughtBy: planning("TestTriggerComesAgain/after it was started"),
	},
	{
		name: "failed-run-keeps-its-fence", rule: "RELEASE, V17",
		removes:  "a run that fails gives its fence back",
		edits:    []edit{ahead(runendFile, "Ender.release", "root, err := e.Destinations.Open(", "return nil")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "busy-planner-stays-planning", rule: "T15r, V17",
		removes:  "a run that another one keeps out is refused",
		edits:    []edit{ahead(startFile, "planner.refuse", "_, err := p.State.Refuse(", `return wire.TriggerResult{RunID: p.run.RunID, Status: wire.RefusedTrigger, Reason: cause.Error(), Skipped: true}, nil`)},
		caughtBy: planning("TestRunThatIsKeptOutHasEnded"),
	},
	{
		name: "failed-planner-stays-planning", rule: "T15, V17",
		removes:  "a permanent failure of planning fails the run",
		edits:    []edit{ahead(startFile, "planner.conclude", "return p.fail(ctx, err)", "return wire.TriggerResult{}, err")},
		caughtBy: chunking("TestRunThatHasLostItsPlanFails"),
	},
}
