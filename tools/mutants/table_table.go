package main

const (
	chunkRules  = "shared/runstate/internal/transition/chunk.go"
	runRules    = "shared/runstate/internal/transition/run.go"
	familyRules = "shared/runstate/internal/transition/family.go"
	faninRules  = "shared/runstate/internal/transition/fanin.go"
	allRules    = "shared/runstate/internal/transition/doc.go"
	transacted  = "shared/runstate/internal/transacted/runs.go"
	transacted2 = "shared/runstate/internal/transacted/chunks.go"
)

// guard takes one condition out of a transition of the table.
func guard(name, rule, removes, file, in, old, new string) mutant {
	return mutant{name: name, rule: rule, removes: removes, edits: []edit{holds(file, in, old, new)}, caughtBy: recording("TestTable")}
}

func coreGuard(name, rule, removes, file, in, old, new string) mutant {
	m := guard(name, rule, removes, file, in, old, new)
	m.core = true
	return m
}

// tableMutants break the conditions of T1 to T20 (architecture §2.4).
var tableMutants = []mutant{
	guard("T1-creates-twice", "T1", "a run is created once", runRules, "CreateRun", "found != nil", "false"),
	guard("T2-in-any-status", "T2", "a fence is recorded while the run is planned", runRules, "RecordFence", "found.Status != runstate.RunPlanning", "false"),
	guard("T2-for-any-generation", "T2", "a run that has a generation keeps it", runRules, "RecordFence", "!allows(found, f.Gen)", "false"),
	coreGuard("T3-writes-over-tasks", "T3, I5", "a task that is there is not put again", chunkRules, "PutChunk", "found != nil", "false"),
	guard("T4-writes-over-leaves", "T4", "a node of the fan-in tree is put once", transacted2, "Table.PutFanin", "found != nil", "false"),
	guard("T5-in-any-status", "T5", "only a run that is planned is started", runRules, "StartRun", "found.Status != runstate.RunPlanning", "false"),
	guard("T5-for-any-generation", "T5", "a run is started under its own generation", runRules, "StartRun", "!at(found, s.Gen)", "found == nil"),
	guard("T5-for-any-trigger", "T5", "a run that a resume has claimed is started by it", runRules, "StartRun", "found.TriggerID != s.TriggerID", "false"),
	coreGuard("T6-for-any-generation", "T6", "a message of an older generation claims nothing", chunkRules, "Claim", "found.Gen != r.Gen", "false"),
	guard("T6-without-end", "T6, V2", "a task is tried max_attempts times", chunkRules, "Claim", "found.Attempts >= found.MaxAttempts", "false"),
	guard("T6-under-a-live-lease", "T6", "a task that somebody works on is left alone", chunkRules, "claimable", "expired(c.LeaseUntil, now)", "true"),
	guard("T6-never-takes-over", "T6, V17", "a task whose worker is gone is taken over", chunkRules, "claimable", "expired(c.LeaseUntil, now)", "false"),
	{
		name: "T6-counts-nothing", rule: "T6, V2", removes: "every claim is an attempt",
		edits: []edit{reads(chunkRules, "Claim", "c.Attempts+1", "c.Attempts+map[bool]int{false: 1}[$on]")}, caughtBy: recording("TestTable"),
	},
	guard("T7-without-the-token", "T7, T10", "only the attempt that holds a task extends its lease", chunkRules, "Heartbeat", "!held(found, token)", "found == nil"),
	{
		name: "T7-extends-nothing", rule: "T7, V17", removes: "a heartbeat extends the lease",
		edits: []edit{does(chunkRules, "Heartbeat", "c.LeaseUntil = Milli(until)", "")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T12-counts-twice", rule: "T11, T12", removes: "a member that joins again is counted once",
		edits: []edit{ahead(faninRules, "FaninAdd", "if at, there := slices.BinarySearch(", `if at, there := slices.BinarySearch(found.Done, member); there { found.Done = slices.Insert(slices.Clone(found.Done), at, member); return found }`)}, caughtBy: recording("TestTable"),
	},
	{
		name: "T12-forgets-members", rule: "T11, T12, V17", removes: "a node keeps who has joined it",
		edits: []edit{ahead(faninRules, "FaninAdd", "if at, there := slices.BinarySearch(", "found.Done = nil")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T6-takes-completed-tasks", rule: "T6, I5", removes: "a completed task is never claimed again",
		edits: []edit{ahead(chunkRules, "claimable", "switch c.Status {", "if c.Status == runstate.ChunkCompleted { return true }")}, caughtBy: recording("TestTable"),
	},
	coreGuard("T8-without-the-token", "T8", "only the attempt that holds the task completes it", chunkRules, "held", "c.LeaseToken == token", "true"),
	guard("T8-in-any-status", "T8, V1", "only a running task is completed", chunkRules, "held", "c.Status == runstate.ChunkRunning", "true"),
	{
		name: "T8-by-lease-time", rule: "T8", core: true, removes: "the token decides about a completion, never a clock",
		edits: []edit{
			reads(chunkRules, "Complete", "if !held(found, token) {", "if $on && found != nil && found.Status == runstate.ChunkRunning && !expired(found.LeaseUntil, now) { return completed(*found, result, now), nil }; if !held(found, token) {"),
		}, caughtBy: recording("TestTable"),
	},
	coreGuard("T9-without-the-run", "T9", "a worker of an older generation splits nothing", familyRules, "Split", "at(found.Run, s.Gen)", "true"),
	guard("T9-without-the-token", "T9", "only the attempt that holds a task splits it", familyRules, "Split", "held(found.Chunk, s.Lease.Token)", "found.Chunk != nil"),
	{
		name: "T9-expects-no-more", rule: "T9, D9", removes: "the leaf waits for the child of a split",
		edits: []edit{does(familyRules, "Family.grown", "leaf.Expected++", "")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T9-keeps-the-whole-range", rule: "T9, V3", removes: "a split task covers what it delivered",
		edits: []edit{reads(familyRules, "Split", "chunk.Range, chunk.SplitInto = s.Done, child.ID", "chunk.Range, chunk.SplitInto = s.Done, child.ID; if $on { chunk.Range = found.Chunk.Range }")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T10-permanent-is-tried-again", rule: "T10", removes: "a permanent failure uses up the attempts",
		edits: []edit{holds(chunkRules, "Fail", "permanent", "false")}, caughtBy: recording("TestTable"),
	},
	guard("T10b-under-a-live-lease", "T10b", "a lease that runs is not expired", chunkRules, "Expire", "!expired(found.LeaseUntil, now)", "false"),
	guard("T10b-with-attempts-left", "T10b", "a task with attempts left is not given up", chunkRules, "Expire", "found.Attempts < found.MaxAttempts", "false"),
	{
		name: "T11-counts", rule: "T11, D9", removes: "a task that joins twice counts once",
		edits: []edit{holds(faninRules, "FaninAdd", "!there", "true")}, caughtBy: recording("TestTable"),
	},
	guard("T13-for-any-generation", "T13", "a run is frozen under its own generation", runRules, "BeginFinalize", "!at(found, g)", "found == nil"),
	guard("T13-in-any-status", "T13", "only a running run is frozen", runRules, "BeginFinalize", "found.Status != runstate.RunRunning && found.Status != runstate.RunFinalizing", "false"),
	guard("T13-moves-the-time", "T13, D10", "the time of the first freeze stays", runRules, "BeginFinalize", "r.FinalizeStartedAt.IsZero()", "true"),
	guard("T14-for-any-generation", "T14", "a run succeeds under its own generation", runRules, "SucceedRun", "at(found, s.Gen) && found.Status == runstate.RunFinalizing", "found != nil && found.Status == runstate.RunFinalizing"),
	guard("T14-in-any-status", "T14", "only a frozen run succeeds", runRules, "SucceedRun", "found.Status == runstate.RunFinalizing", "true"),
	guard("T14-twice", "T14", "a run that has succeeded keeps its outcome", runRules, "SucceedRun", "found.Status != runstate.RunSucceeded", "true"),
	coreGuard("T15-fails-a-frozen-run", "T15", "a finalizing run is never failed from outside", runRules, "FailRun", "found.Status != runstate.RunPlanning && found.Status != runstate.RunRunning", "found.Status.Terminal()"),
	guard("T15-for-any-generation", "T15", "an older generation does not fail a resumed run", runRules, "FailRun", "!allows(found, g)", "false"),
	guard("T15r-with-a-generation", "T15r", "a run that has a generation is not refused", runRules, "Refuse", "found.Gen != 0", "false"),
	guard("T16-after-the-end", "T16", "a run that has ended is not superseded", runRules, "SupersedeRun", "found.Status.Terminal()", "false"),
	guard("T16-by-an-older-one", "T16", "only a newer generation supersedes", runRules, "SupersedeRun", "found.Gen >= g", "false"),
	guard("T17a-of-a-live-run", "T17a", "a live run is not resumed", runRules, "resumable", "expired(r.LeaseUntil, c.Now)", "true"),
	guard("T17a-of-a-succeeded-run", "T17a", "a succeeded run is resumed by force only", runRules, "resumable", "c.Force", "true"),
	{
		name: "T17a-keeps-the-freeze", rule: "T17a, D10", removes: "a resumed run is frozen anew",
		edits: []edit{ahead(runRules, "ClaimResume", "return r, nil", "r.FinalizeStartedAt = found.FinalizeStartedAt")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T17a-stays-notified", rule: "T17a", removes: "the end of a resumed run is told again",
		edits: []edit{ahead(runRules, "ClaimResume", "return r, nil", "r.Notified = found.Notified")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T17a-stays-enqueued", rule: "T17a, V17", removes: "the tasks of a resumed run are sent again",
		edits: []edit{ahead(runRules, "ClaimResume", "return r, nil", "r.Enqueued = found.Enqueued")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T17a-leaves-ACTIVE-away", rule: "T17a, V17", removes: "the sweep looks after a resumed run",
		edits: []edit{holds(transacted, "Table.changeRun", "active && !wasActive", "active && found == nil")}, caughtBy: recording("TestTable"),
	},
	guard("T17b-in-any-status", "T17b", "only a claimed run gets a new generation", runRules, "ResumeRun", "found.Status != runstate.RunPlanning", "false"),
	guard("T17b-goes-back", "T17b", "a run's generation never goes back", runRules, "ResumeRun", "found.Gen >= g", "false"),
	guard("T17c-of-completed-tasks", "T17c, I5", "a completed task is kept", chunkRules, "ResumeChunk", "found.Status == runstate.ChunkCompleted", "false"),
	guard("T17c-twice", "T17c", "a task is resumed once a generation", chunkRules, "ResumeChunk", "found.Gen >= g", "false"),
	{
		name: "T17c-keeps-the-lease", rule: "T17c, R3", removes: "a resume revokes the leases of older generations",
		edits: []edit{does(chunkRules, "ResumeChunk", `c.LeaseToken, c.LeaseUntil = "", time.Time{}`, "c.Status = found.Status")}, caughtBy: recording("TestTable"),
	},
	{
		name: "T17c-no-new-budget", rule: "T17c", removes: "a resumed task has attempts again",
		edits: []edit{reads(chunkRules, "ResumeChunk", "c.Attempts+budget", "map[bool]int{true: c.MaxAttempts, false: c.Attempts + budget}[$on]")}, caughtBy: recording("TestTable"),
	},
	coreGuard("T18-without-the-run", "T18", "a repair is of the run's own generation", familyRules, "Repair", "at(found.Run, g)", "found.Run != nil"),
	coreGuard("T18-after-the-freeze", "T18, D10", "nothing is repaired once the run is frozen", familyRules, "Repair", "(found.Run.Status == runstate.RunPlanning || found.Run.Status == runstate.RunRunning)", "true"),
	guard("T18-twice", "T18", "a task is repaired once", familyRules, "Repair", "found.Chunk.Live()", "true"),
	guard("T18-of-unfinished-tasks", "T18", "only a completed task is repaired", familyRules, "Repair", "found.Chunk.Status == runstate.ChunkCompleted", "true"),
	guard("T19-twice", "T19", "the end of a run is marked as told once", runRules, "MarkNotified", "found.Notified", "false"),
	guard("T20-after-the-end", "T20", "a run that has ended is not noted on", runRules, "NoteRun", "found.Status.Terminal() && found.Status != runstate.RunSucceeded", "false"),
	guard("T20-of-a-succeeded-run", "T20", "a run that has succeeded takes a verdict and no error", runRules, "NoteRun", "r.Status == runstate.RunSucceeded", "false"),
	guard("child-written-over", "T9, T18", "a task that is there is not written over by a split or repair", allRules, "CheckChild", "child == nil", "true"),
	guard("absent-generation-is-zero", "T5, T9, T13", "a run without a generation is at none", allRules, "at", "g != 0", "true"),
	{
		name: "ACTIVE-stays", rule: "T14, T15", removes: "a run that has ended is not swept any more",
		edits: []edit{holds(transacted, "Table.changeRun", "wasActive && !active", "false")}, caughtBy: recording("TestTable"),
	},
	{
		name: "ACTIVE-of-a-live-run-dropped", rule: "§2.8", removes: "only a run that has ended loses its ACTIVE item",
		edits: []edit{holds(transacted, "Table.DropActive", "!found.Status.Terminal()", "false")}, caughtBy: recording("TestTable"),
	},
}
