package main

const chunksFile = "functions/dispatch/chunks.go"

// dispatchMutants break how work is passed on: messages, the fan-in of completed
// tasks, and what a crash between two steps has left (D9, T11, T12). What the
// handlers make of it is in their own tables.
var dispatchMutants = []mutant{
	{
		name: "completed-task-does-not-join", rule: "T11, V17",
		removes:  "a completed task joins its leaf",
		edits:    []edit{ahead(dispatchFile, "Dispatcher.Completed", "return d.join(", "return nil")},
		caughtBy: passing("TestJoin"),
	},
	{
		name: "redriven-task-does-not-join", rule: "T11, V17",
		removes:  "a completed task whose message comes again joins its leaf",
		edits:    []edit{ahead(dispatchFile, "Dispatcher.Redrive", "return d.join(", "return nil")},
		caughtBy: passing("TestCrashBetweenAnyTwoSteps"),
	},
	{
		name: "leaf-joins-half-full", rule: "T12",
		removes:  "a leaf joins the root when it is full",
		edits:    []edit{holds(dispatchFile, "Dispatcher.join", "!leaf.Full()", "false")},
		caughtBy: passing("TestJoin"),
	},
	{
		name: "tasks-join-the-root", rule: "T12",
		removes:  "the members of the root are leaves",
		edits:    []edit{reads(dispatchFile, "Dispatcher.join", "strconv.Itoa(shard)", "map[bool]string{true: string(c.ID), false: strconv.Itoa(shard)}[$on]")},
		caughtBy: passing("TestJoin"),
	},
	{
		name: "full-root-is-silent", rule: "T12, V17",
		removes:  "the finalization is sent again by whoever finds the root full",
		edits:    []edit{ahead(dispatchFile, "Dispatcher.join", "leaf, err := d.State.FaninAdd(", "if node, err := d.State.GetFanin(ctx, ref.RunID, runstate.RootShard); err == nil && node.Full() { return nil }")},
		caughtBy: passing("TestJoin"),
	},
	{
		name: "unknown-child-stops-the-parent", rule: "T9, V17",
		removes:  "a child that the table does not know is none",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Redrive", "!errors.Is(err, runstate.ErrNotFound)", "true")},
		caughtBy: passing("TestRedriveOfASplitTask/its child is not known"),
	},
	{
		name: "silent-table-has-no-child", rule: "T9, V17",
		removes:  "a table that does not answer is asked again for the child",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Redrive", "err != nil && !errors.Is(err, runstate.ErrNotFound)", "false")},
		caughtBy: passing("TestTableThatIsLostOrSilent"),
	},
	{
		name: "child-of-a-long-chain-sent-again", rule: "§3.4",
		removes:  "the child of a long chain of splits is left to the sweep",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Redrive", "c.SplitInto.SplitDepth() < MaxSplitDepth", "true")},
		caughtBy: passing("TestRedriveOfASplitTask/the chain is long"),
	},
	{
		name: "lost-table-fails-the-task", rule: "D9",
		removes:  "a run whose items are gone is no failure of its task",
		edits:    []edit{holds(dispatchFile, "ignoreLostTable", "errors.Is(err, runstate.ErrNotFound)", "false")},
		caughtBy: passing("TestTableThatIsLostOrSilent"),
	},
	{
		name: "silent-table-is-lost", rule: "D9, V17",
		removes:  "a task that could not join because the table was silent comes again",
		edits:    []edit{holds(dispatchFile, "ignoreLostTable", "errors.Is(err, runstate.ErrNotFound)", "true")},
		caughtBy: passing("TestTableThatIsLostOrSilent"),
	},
	{
		name: "message-without-a-generation", rule: "§2.4",
		removes:  "a message names the generation of its run",
		edits:    []edit{reads(dispatchFile, "Ref", "Generation: r.Gen", "Generation: map[bool]contract.Generation{false: r.Gen}[$on]")},
		caughtBy: passing("TestMessages"),
	},
	{
		name: "message-without-a-plan", rule: "P7",
		removes:  "a message names the plan of its run",
		edits:    []edit{reads(dispatchFile, "Ref", "PlanFingerprint: r.PlanFingerprint", "PlanFingerprint: map[bool]contract.Fingerprint{false: r.PlanFingerprint}[$on]")},
		caughtBy: passing("TestMessages"),
	},
	{
		name: "message-without-a-group", rule: "fair queues",
		removes:  "one export does not starve another in a queue",
		edits:    []edit{reads(dispatchFile, "message", "Group: contract.Token(string(export))", "Group: map[bool]string{false: contract.Token(string(export))}[$on]")},
		caughtBy: passing("TestMessages"),
	},
	{
		name: "silent-shard-is-empty", rule: "I6, M8",
		removes:  "no task is taken for absent because its shard was silent",
		edits:    []edit{does(chunksFile, "AllChunks", "return err", "return nil")},
		caughtBy: passing("TestAllChunks"),
	},
	{
		name: "last-shard-not-listed", rule: "I6, M8",
		removes:  "the tasks of a run are those of all of its shards",
		edits:    []edit{reads(chunksFile, "AllChunks", "for s := range shards {", "for s := range shards { if $on && s == len(shards)-1 { break }")},
		caughtBy: passing("TestAllChunks"),
	},
	{
		name: "failure-tells-its-secret", rule: "SEC-01",
		removes:  "a failure is stored without what looks like a secret",
		edits:    []edit{reads("functions/dispatch/failure.go", "Failure", "telemetry.Told(err.Error())", "map[bool]string{true: err.Error(), false: telemetry.Told(err.Error())}[$on]")},
		caughtBy: passing("TestFailureHidesSecrets"),
	},
}
