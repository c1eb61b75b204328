package main

const (
	chunkFile    = "functions/chunk/handler.go"
	leaseFile    = "functions/chunk/lease.go"
	extractFile  = "shared/extract/extract.go"
	keyspaceFile = "shared/keyspace/keyspace.go"
)

// chunkMutants break the chunk function: claim, lease, completion, split, fan-in
// (architecture §2.4 T6 to T12, §3).
var chunkMutants = []mutant{
	{
		name: "ended-run-is-extracted", rule: "T6",
		removes:  "nothing is extracted for a run that has ended",
		edits:    []edit{holds(chunkFile, "handler.handle", "run.Status.Terminal()", "false")},
		caughtBy: chunking("TestMessagesInVain"),
	},
	{
		name: "message-of-another-plan", rule: "P7",
		removes:  "a message of another plan is refused",
		edits:    []edit{holds(chunkFile, "handler.open", `ref.PlanFingerprint != fp || h.run.PlanFingerprint != "" && h.run.PlanFingerprint != fp`, "false")},
		caughtBy: chunking("TestMessagesInVain"),
	},
	{
		name: "own-claim-not-known", rule: "T6",
		removes:  "a worker recognises its claim when the answer was lost",
		edits:    []edit{holds(chunkFile, "handler.claim", "found.LeaseToken == lease.Token && found.Status == runstate.ChunkRunning", "false")},
		caughtBy: chunking("TestLostAnswers"),
	},
	{
		name: "completed-task-only-acked", rule: "T6, V17", core: true,
		removes:  "the message of a completed task passes its completion on again",
		edits:    []edit{reads(chunkFile, "handler.claim", "err := h.dispatcher().Redrive(", "err := error(nil); $on { return c, done(\"completed\"), nil } else if err = h.dispatcher().Redrive(")},
		caughtBy: chunking("TestRedeliveryOfACompletedTaskDrivesTheFanIn"),
	},
	{
		name: "older-message-takes-attempts", rule: "T6",
		removes:  "a message of an older generation is done with",
		edits:    []edit{holds(chunkFile, "handler.claim", "found.Gen != h.task.Run.Generation", "false")},
		caughtBy: chunking("TestClaim"),
	},
	{
		name: "busy-task-is-given-up", rule: "T6",
		removes:  "the message of a task that is worked on comes back",
		edits:    []edit{ahead(chunkFile, "handler.claim", "wait := int(", `return c, done("busy"), nil`)},
		caughtBy: chunking("TestClaim"),
	},
	{
		name: "exhausted-task-only-acked", rule: "T6, V17",
		removes:  "the message of a task without attempts goes to the finalizer",
		edits:    []edit{ahead(chunkFile, "handler.claim", "if err := h.dispatcher().SendFinalize(", `return c, done("exhausted"), nil`)},
		caughtBy: chunking("TestClaim"),
	},
	{
		name: "lost-lease-goes-on", rule: "T7",
		removes:  "a worker that has lost its lease records nothing",
		edits:    []edit{holds(chunkFile, "handler.attempt", "lost()", "false")},
		caughtBy: chunking("TestWorkerWithoutItsLeaseStops"),
	},
	{
		name: "lost-lease-keeps-writing", rule: "T7",
		removes:  "a worker that has lost its lease stops writing",
		edits:    []edit{ahead(leaseFile, "handler.keepLease", "gone.Store(true)", "return")},
		caughtBy: chunking("TestWorkerWithoutItsLeaseStops"),
	},
	{
		name: "heartbeat-outlives-the-attempt", rule: "T7",
		removes:  "no heartbeat is sent after the attempt",
		edits:    []edit{reads(leaseFile, "handler.keepLease", "func() { cancel(); wg.Wait() }", "func() { if $on { return }; cancel(); wg.Wait() }")},
		caughtBy: chunking("TestHeartbeat"),
	},
	{
		name: "no-heartbeat", rule: "T7",
		removes:  "a worker extends its lease while it works",
		edits:    []edit{ahead(leaseFile, "handler.keepLease", "err := h.State.Heartbeat(", "continue")},
		caughtBy: chunking("TestHeartbeat"),
	},
	{
		name: "split-in-two-writes", rule: "T9", core: true,
		removes: "a task is completed and its child put in one transaction",
		edits: []edit{ahead(chunkFile, "handler.split", "c, err := h.State.Split(", `
			done, err := h.State.Complete(ctx, lease, out.Result, h.Clock.Now())
			if err == nil {
				err = h.State.PutChunk(ctx, runstate.Chunk{RunID: lease.Run, ID: lease.Task.SplitChild(), Status: runstate.ChunkPending, Gen: claimed.Gen, Range: *out.Rest, MaxAttempts: h.run.MaxAttempts, SplitOf: lease.Task, CreatedAt: h.Clock.Now()})
				done.SplitInto = lease.Task.SplitChild()
			}
			return h.recorded(ctx, lease, done, err)`)},
		caughtBy: simulated("TestChunksSplitBeforeTheirDeadline"),
	},
	{
		name: "rest-is-dropped", rule: "T9, V3",
		removes:  "the rest of a task that ran out of time goes to a child",
		edits:    []edit{holds(chunkFile, "handler.attempt", "out.Rest != nil", "false")},
		caughtBy: simulated("TestChunksSplitBeforeTheirDeadline"),
	},
	{
		name: "own-completion-not-known", rule: "T8",
		removes:  "a worker recognises its completion when the answer was lost",
		edits:    []edit{holds(chunkFile, "handler.recorded", "refused.Item == nil || refused.Item.Status != runstate.ChunkCompleted || refused.Item.LeaseToken != lease.Token", "true")},
		caughtBy: chunking("TestLostAnswers"),
	},
	{
		name: "completion-not-passed-on", rule: "T11, V17",
		removes:  "a completed task joins the fan-in tree at once",
		edits:    []edit{ahead(chunkFile, "handler.completed", "return h.dispatcher().Completed(", "return nil")},
		caughtBy: chunking("TestLostAnswers"),
	},
	{
		name: "failure-not-recorded", rule: "T10",
		removes:  "a failed attempt is recorded",
		edits:    []edit{ahead(chunkFile, "handler.failed", "permanent := !fault.Retry(cause)", `return wire.Again(1, "%v", cause), cause`)},
		caughtBy: chunking("TestFailures"),
	},
	{
		name: "permanent-failure-is-retried", rule: "T10",
		removes:  "a permanent failure is not tried again",
		edits:    []edit{reads(chunkFile, "handler.failed", "permanent := !fault.Retry(cause)", "permanent := !fault.Retry(cause) && !$on")},
		caughtBy: simulated("TestFailures"),
	},
	{
		name: "last-failure-not-passed-on", rule: "T10, V17",
		removes:  "a task that has failed for good fails its run at once",
		edits:    []edit{holds(chunkFile, "handler.failed", "c.Exhausted()", "false")},
		caughtBy: chunking("TestFailures"),
	},
	{
		name: "task-of-another-database", rule: "D16",
		removes:  "a task is read from the database that it was planned on",
		edits:    []edit{reads(chunkFile, "handler.extract", "err := commit.CheckSource(h.task.Run.Export, \"the plan\", h.plan.SourceIdentity, identity); err != nil", "err := commit.CheckSource(h.task.Run.Export, \"the plan\", h.plan.SourceIdentity, identity); err != nil && !$on")},
		caughtBy: simulated("TestResumeReadsNoOtherDatabase"),
	},
	{
		name: "parts-named-by-the-message", rule: "§2.5",
		removes:  "parts are named by the generation of the claim",
		edits:    []edit{reads(chunkFile, "handler.extract", "h.plan.Naming(claimed.Gen)", "h.plan.Naming(map[bool]contract.Generation{true: h.plan.FirstGeneration, false: claimed.Gen}[$on])")},
		caughtBy: planning("TestRepairTwice"),
	},
	{
		name: "child-not-sent", rule: "T9, V17",
		removes:  "the child of a split is sent at once",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Completed", "c.SplitInto.SplitDepth() < MaxSplitDepth", "false")},
		caughtBy: chunking("TestChildOfASplitIsSent/at once"),
	},
	{
		name: "chain-of-splits-without-end", rule: "§3.4",
		removes:  "a long chain of splits is left to the sweep",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Completed", "c.SplitInto.SplitDepth() < MaxSplitDepth", "true")},
		caughtBy: chunking("TestChildOfASplitIsSent/at once, but the chain is long"),
	},
	{
		name: "child-not-sent-again", rule: "T9, V17", core: true,
		removes:  "the message of a split task that comes again sends its child",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Redrive", "err == nil && child.Status == runstate.ChunkPending && now.Sub(child.ChangedAt) > childPatience", "false")},
		caughtBy: chunking("TestChildOfASplitIsSent/much later, by the parent's message"),
	},
	{
		name: "child-sent-each-time", rule: "ADR-0002",
		removes:  "a duplicate of a message does not double the messages behind it",
		edits:    []edit{holds(dispatchFile, "Dispatcher.Redrive", "child.Status == runstate.ChunkPending && now.Sub(child.ChangedAt) > childPatience", "true")},
		caughtBy: chunking("TestChildOfASplitIsSent/a moment later, by the parent's message"),
	},
	{
		name: "leaf-fills-no-root", rule: "T12, V17",
		removes:  "a full leaf joins the root",
		edits:    []edit{ahead(dispatchFile, "Dispatcher.join", "root, err := d.State.FaninAdd(", "return nil")},
		caughtBy: chunking("TestFinalizerIsCalledByTheLastLeaf"),
	},
	{
		name: "finalizer-too-early", rule: "T12",
		removes:  "the finalizer is called when the root is full",
		edits:    []edit{holds(dispatchFile, "Dispatcher.join", "!root.Full()", "false")},
		caughtBy: chunking("TestFinalizerIsCalledByTheLastLeaf"),
	},
	{
		name: "split-keeps-the-cut-rows", rule: "D8, V10",
		removes:  "a task that is cut keeps only the rows before the cut",
		edits:    []edit{does(extractFile, "loop.split", "batch.Truncate(rows)", "")},
		caughtBy: extracting("TestSplitNearTheDeadline"),
	},
	{
		name: "split-without-the-last-batch", rule: "D8, V10",
		removes:  "the rows before a cut are delivered",
		edits:    []edit{does(extractFile, "loop.run", "if err := l.append(batch); err != nil { return Outcome{}, err } if err := l.finishPart(ctx); err != nil { return Outcome{}, err } return Outcome{Result: l.result, Done: done, Rest: &rest}, nil", "if err := l.finishPart(ctx); err != nil { return Outcome{}, err }; return Outcome{Result: l.result, Done: done, Rest: &rest}, nil")},
		caughtBy: extracting("TestSplitNearTheDeadline"),
	},
	{
		name: "last-part-not-stored", rule: "I2, V10",
		removes:  "the open part is stored when the range ends",
		edits:    []edit{ahead(extractFile, "loop.run", "if err := l.finishPart(ctx); err != nil { return Outcome{}, err } return Outcome{Result: l.result, Done: l.Range}, nil", "return Outcome{Result: l.result, Done: l.Range}, nil")},
		caughtBy: extracting("TestTaskThatHasReadItsLastRowIsNotSplit"),
	},
	{
		name: "failed-close-is-success", rule: "I1",
		removes:  "a reader that fails in the end fails the attempt",
		edits:    []edit{holds(extractFile, "Run", "err == nil && closeErr != nil", "false")},
		caughtBy: extracting("TestReadThatClosesBadlyDeliversNothing"),
	},
	{
		name: "no-end-of-time", rule: "D8",
		removes:  "a task stops before its function's time is over",
		edits:    []edit{reads(extractFile, "loop.split", "late := !l.Deadline.IsZero()", "late := !$on && !l.Deadline.IsZero()")},
		caughtBy: extracting("TestTaskWithoutAKeyFailsAtItsDeadline"),
	},
	{
		name: "parts-without-number", rule: "QUE-22",
		removes:  "a task splits before it has too many parts",
		edits:    []edit{reads(extractFile, "loop.split", "full := len(l.result.Parts)", "full := !$on && len(l.result.Parts)")},
		caughtBy: extracting("TestTaskSplitsBeforeItHasTooManyParts"),
	},
	{
		name: "split-inside-a-key", rule: "D8",
		removes:  "a task is not cut inside a group of equal keys",
		edits:    []edit{holds(extractFile, "loop.split", "rows == 0", "false")},
		caughtBy: extracting("TestSplitOutsideAGroupOfEqualKeys"),
	},
	{
		name: "split-of-nothing", rule: "D8",
		removes:  "a task that has delivered its last row is not split",
		edits:    []edit{holds(extractFile, "loop.split", "l.Range.UpTo != nil && keyEqual(at, l.Range.UpTo)", "false")},
		caughtBy: extracting("TestTaskThatHasReadItsLastRowIsNotSplit"),
	},
}
