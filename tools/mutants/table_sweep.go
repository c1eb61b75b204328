package main

const sweepFile = "functions/planner/sweep.go"

// sweepMutants break the rules of the sweep, (a) to (g) (architecture §2.8,
// ADR-0002). Nearly all of it is liveness: what got lost is sent again, and
// nothing is sent for nothing.
var sweepMutants = []mutant{
	{
		name: "sweep-keeps-stale-ACTIVE", rule: "§2.8",
		removes:  "the ACTIVE item of a run that has ended or is gone is dropped",
		edits:    []edit{ahead(sweepFile, "sweepRun", "return d.State.DropActive(", "return nil")},
		caughtBy: planning("TestSweepOfAGhost"),
	},
	{
		name: "sweep-a-expired-not-sent", rule: "§2.8 (a)",
		removes:  "a task whose worker is gone is sent again",
		edits:    []edit{ahead(sweepFile, "sweeper.look", "return sendAgain, nil case runstate.ChunkPending:", "return leaveAlone, nil")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-a-live-sent", rule: "§2.8 (a)",
		removes:  "a task that is worked on is not sent again",
		edits:    []edit{holds(sweepFile, "sweeper.look", "s.now.Before(c.LeaseUntil)", "false")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-b-pending-not-sent", rule: "§2.8 (b)",
		removes:  "a task that nobody took is sent again",
		edits:    []edit{holds(sweepFile, "sweeper.look", "s.quiet", "false")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-b-pending-always-sent", rule: "ADR-0002",
		removes:  "tasks that wait in a busy queue are not sent again",
		edits:    []edit{holds(sweepFile, "sweeper.look", "s.quiet", "true")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-b-deep-children-not-sent", rule: "§3.4",
		removes:  "the sweep sends the children of a long chain of splits",
		edits:    []edit{holds(sweepFile, "sweeper.look", "c.ID.SplitDepth() >= dispatch.MaxSplitDepth", "false")},
		caughtBy: planning("TestSweepSendsTheChildOfALongChain"),
	},
	{
		name: "sweep-b2-failed-not-sent", rule: "§2.8 (b2)",
		removes:  "a failed task with attempts left is sent again",
		edits:    []edit{ahead(sweepFile, "sweeper.look", "if c.Exhausted() {", "if !c.Exhausted() { return leaveAlone, nil }")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-b2-failed-sent-at-once", rule: "§2.8 (b2)",
		removes:  "a failed task is left to its own message for a while",
		edits:    []edit{ahead(sweepFile, "sweeper.look", "if c.Exhausted() {", "if !c.Exhausted() { return sendAgain, nil }")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-c-exhausted-not-given-up", rule: "§2.8 (c)",
		removes:  "a run with a task that has failed for good is failed",
		edits:    []edit{reads(sweepFile, "sweeper.look", "if c.Exhausted() { return giveUp, nil", "if c.Exhausted() { if $on { return leaveAlone, nil }; return giveUp, nil")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-c-last-lease-not-expired", rule: "§2.8 (c), T10b",
		removes:  "a task whose last worker died is failed",
		edits:    []edit{ahead(sweepFile, "sweeper.look", "_, err := s.State.Expire(", "return leaveAlone, nil")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-d-complete-not-finalized", rule: "§2.8 (d)",
		removes:  "a run whose tasks are completed goes to its finalizer",
		edits:    []edit{holds(sweepFile, "sweeper.running", "complete && s.now.Sub(lastChange) > finalizePatience", "false")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-d-finalizer-not-sent-again", rule: "§2.8 (d)",
		removes:  "a finalization that stopped is sent again",
		edits:    []edit{ahead(sweepFile, "sweeper.finalizing", "s.Log.Warn(", "return nil")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "sweep-d-finalizer-sent-at-once", rule: "§2.8 (d)",
		removes:  "a finalization that goes on is left alone",
		edits:    []edit{holds(sweepFile, "sweeper.finalizing", "s.now.Sub(s.run.FinalizeStartedAt) < finalizePatience", "false")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "sweep-e-planner-not-run-again", rule: "§2.8 (e)",
		removes:  "a planner that died is run again",
		edits:    []edit{ahead(sweepFile, "sweeper.planning", "var t wire.Trigger", "return nil")},
		caughtBy: planning("TestSweepOfAPlanningRun"),
	},
	{
		name: "sweep-e-planner-run-beside", rule: "§2.8 (e)",
		removes:  "a planner that lives is left alone",
		edits:    []edit{holds(sweepFile, "sweeper.planning", "!s.run.LeaseUntil.Before(s.now)", "false")},
		caughtBy: planning("TestSweepOfAPlanningRun"),
	},
	{
		name: "sweep-e-resume-is-started", rule: "§2.8 (e)",
		removes:  "a dead resume is resumed, not started",
		edits:    []edit{does(sweepFile, "sweeper.planning", "t.Action = s.run.Intent", "t.Action = wire.ActionRun")},
		caughtBy: planning("TestSweepOfAPlanningRun"),
	},
	{
		name: "sweep-f-run-without-end", rule: "§2.8 (f)",
		removes:  "a run that takes too long is failed",
		edits:    []edit{holds(sweepFile, "sweepRun", "s.now.Sub(run.BegunAt()) > d.Settings.RunTTL", "false")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "sweep-f-time-since-creation", rule: "§2.8 (f)",
		removes:  "the time of a resumed run begins again",
		edits:    []edit{reads(sweepFile, "sweepRun", "run.BegunAt()", "map[bool]time.Time{true: run.CreatedAt, false: run.BegunAt()}[$on]")},
		caughtBy: simulated("TestOldRunIsResumed"),
	},
	{
		name: "sweep-f-finalizing-run-failed", rule: "§2.8 (f), T15",
		removes:  "a finalizing run is never failed for its age",
		edits:    []edit{holds(sweepFile, "sweepRun", "run.Status != runstate.RunFinalizing", "true")},
		caughtBy: planning("TestSweepOfAnOldRun"),
	},
	{
		name: "sweep-g-live-run-not-extended", rule: "§2.8 (g)",
		removes:  "a run that works stays live",
		edits:    []edit{ahead(sweepFile, "sweeper.running", "until := s.now.Add(s.Settings.RunLease)", "return nil")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-g-still-run-extended", rule: "§2.8 (g)",
		removes:  "a run in which nothing moves may be taken over",
		edits:    []edit{holds(sweepFile, "sweeper.running", "!complete && s.now.Sub(lastChange) > progressWindow", "false")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-g-heartbeat-is-no-progress", rule: "§2.8 (g)",
		removes:  "a worker that sends heartbeats keeps its run live",
		edits:    []edit{holds(sweepFile, "sweeper.running", "c.Status == runstate.ChunkRunning && s.now.Before(c.LeaseUntil)", "false")},
		caughtBy: simulated("TestLongChunkKeepsItsRunLive"),
	},
	{
		name: "sweep-old-generation-sent", rule: "§2.8, T17c",
		removes:  "a task that a resume left behind is resumed before it is sent",
		edits:    []edit{holds(sweepFile, "sweeper.look", "c.Status != runstate.ChunkCompleted && c.Gen < s.run.Gen", "false")},
		caughtBy: planning("TestSweepResumesATaskOfAnOlderGeneration"),
	},
	{
		name: "sweep-completed-not-joined", rule: "§2.8, V17",
		removes:  "a completed task that never joined the fan-in tree is sent again",
		edits:    []edit{holds(sweepFile, "sweeper.look", "!joined", "false")},
		caughtBy: planning("TestSweepOfARunningRun"),
	},
	{
		name: "sweep-joined-tasks-sent", rule: "ADR-0002",
		removes:  "a completed task that has joined is left alone",
		edits:    []edit{holds(sweepFile, "sweeper.look", "!joined", "true")},
		caughtBy: planning("TestSweepDoesNotDoTooMuch"),
	},
	{
		name: "sweep-full-shards-read", rule: "§2.8",
		removes:  "the sweep reads only shards that are not full",
		edits:    []edit{holds(sweepFile, "sweeper.unfinished", "err == nil && leaf.Full()", "false")},
		caughtBy: planning("TestSweepDoesNotDoTooMuch"),
	},
	{
		name: "sweep-sends-everything", rule: "ADR-0002",
		removes:  "a sweep sends a bounded number of tasks",
		edits:    []edit{holds(sweepFile, "sweeper.running", "len(again) < sendMost", "true")},
		caughtBy: planning("TestSweepDoesNotDoTooMuch"),
	},
	{
		name: "sweep-stops-at-the-first-error", rule: "§2.8",
		removes:  "one run that cannot be swept does not keep the others from it",
		edits:    []edit{ahead(sweepFile, "Sweep", "failed = append(failed,", "return wire.TriggerResult{}, err")},
		caughtBy: planning("TestSweepOfAGhost"),
	},
}
