package model

func partChapter() chapter {
	return chapter{"Storing a part", "Three attempts on one chunk, while the source changes to and fro.", []variant{
		{"create only, under a name with the content's hash if the name is taken", "", small, 0, parts(createOrSuffix).Explore},
		{"replaced on a version that is derived from the content", "V4", small, 0, parts(replaceCapturedTag).Explore},
		{"stored whatever is there", "V4", small, 0, parts(putPart).Explore},
		{"a name that is taken counts as uploaded", "V4", small, 0, parts(takenMeansUploaded).Explore},
	}}
}

func resumeChapter() chapter {
	return chapter{"Resuming a chunk", "A worker of the first generation still lives, two planners resume its chunk and quarantine older parts, two workers extract it again.", []variant{
		{"revoke, then query, then list, then move; names bear the generation", "", medium, 0, resume(resumeRule{}).Explore},
		{"the new generation uses the same names", "V4", small, 0, resume(resumeRule{reusesPlainName: true}).Explore},
		{"an object of any generation is adopted", "V4", small, 0, resume(resumeRule{adoptsAny: true}).Explore},
		{"the quarantine runs before the leases are revoked", "V4", small, 0, resume(resumeRule{quarantinesBeforeRevoke: true}).Explore},
	}}
}

func revokeChapter() chapter {
	of := func(rule revokeRule) func(int) Result { return revoking(rule).Explore }
	return chapter{"Revoking older generations", "The table is lost, or restored to before the task was done, up to twice; finalizers of every generation may commit whenever they wake up, and two resumes move to quarantine what is neither recorded nor promised.", []variant{
		{"a resume creates the records of older generations, and spares what those list that stand", "", small, 0, of(revokeRule{})},
		{"nothing is revoked", "V16", small, 0, of(revokeRule{neverRevokes: true})},
		{"it is revoked after the move", "V16", small, 0, of(revokeRule{revokesLast: true})},
		{"what a standing record lists is moved too", "V16", small, 0, of(revokeRule{movesPromised: true})},
		{"a finalizer creates its record after the sidecar", "V16", small, 0, of(revokeRule{recordsAfterwards: true})},
		{"a repair of the run before: its generation is revoked by the run that follows", "", small, 0, of(revokeRule{repair: true})},
		{"a repair of the run before, and nothing is revoked", "V16", small, 0, of(revokeRule{repair: true, neverRevokes: true})},
	}}
}

func replanChapter() chapter {
	rule := replanRule{putsTasksAgain: true, splits: true, splitChecksRun: true, countsPlan: true, stalledPlanner: true}
	duplicate, unchecked := rule, rule
	duplicate.duplicatePlanner, unchecked.splitChecksRun = true, false
	return chapter{"Resuming a run that was half planned", "A planner stopped while it put the tasks of its run, and may go on any time; a worker of its generation lives and may split its chunk.", []variant{
		{"the tasks are put again, F2 counts those of the plan, a split checks RUN", "", small, 0, replan(rule).Explore},
		{"the same, with two resume planners", "", small, 0, replan(duplicate).Explore},
		{"F2 counts the tasks that exist", "V6", small, 0, replan(replanRule{stalledPlanner: true}).Explore},
		{"the tasks are not put again", "V17", small, 0, replan(replanRule{countsPlan: true, stalledPlanner: true}).Explore},
		{"a split does not check RUN", "V16", small, 0, replan(unchecked).Explore},
		{"none of the three", "V16", small, 0, replan(replanRule{secondTaskPut: true, splits: true}).Explore},
	}}
}

func claimChapter() chapter {
	return chapter{"Claiming a resume", "Deliveries of one resume request and a finalizer of the old generation.", []variant{
		{"RUN is claimed before the fence", "", small, 0, claim(claimRule{planners: 2, claimsRunFirst: true, finalizer: true}).Explore},
		{"the fence is taken before RUN is claimed", "V17", small, 0, claim(claimRule{planners: 2}).Explore},
		{"a higher generation of the same run supersedes it", "V17", small, 0, claim(claimRule{planners: 1, supersedesOwner: true, finalizer: true}).Explore},
	}}
}

func reclaimChapter() chapter {
	return chapter{"Claiming a resume again", "Three requests resume one run; the leases of two of them end while their planners are asleep.", []variant{
		{"a resume looks at its claim after it has read the fence, and swaps what it has read", "", small, 0, reclaim(reclaimRule{looksAtRun: true}).Explore},
		{"it looks before it reads the fence", "V17", small, 0, reclaim(reclaimRule{looksFirst: true}).Explore},
		{"it trusts its claim", "V17", small, 0, reclaim(reclaimRule{}).Explore},
	}}
}

func faninChapter() chapter {
	return chapter{"Finding the last chunk", "Two chunks, each of which may split once; a crash, and messages that are delivered again.", []variant{
		{"a set of chunk ids, the child expected by the split's transaction, and a query", "", medium, 0, fanin(faninRule{expectsChild: true, queries: true}).Explore},
		{"the child is expected, nothing is queried", "", medium, 0, fanin(faninRule{expectsChild: true}).Explore},
		{"the child is not expected, the query alone decides", "", medium, 0, fanin(faninRule{queries: true}).Explore},
		{"neither", "V6", small, 0, fanin(faninRule{}).Explore},
		{"a counter, and no query", "V6", small, 0, fanin(faninRule{expectsChild: true, counts: true}).Explore}, // QUE-05
		{"a split in two writes", "V6", small, 0, fanin(faninRule{expectsChild: true, queries: true, splitInTwoWrites: true}).Explore},
		{"a duplicate of a split parent is only acknowledged", "V17", small, 0, fanin(faninRule{expectsChild: true, queries: true, parentOnlyAcks: true}).Explore},
	}}
}

func freezeChapter() chapter {
	return chapter{"Freezing the manifest", "A part vanishes while three finalizers look at a run.", []variant{
		{"no repair once finalizing, and the bytes come from a query after that", "", small, 0, freeze(freezeRule{repairsRunningOnly: true, queriesAgain: true}).Explore},
		{"the bytes come from the first query", "V18", small, 0, freeze(freezeRule{repairsRunningOnly: true}).Explore},
		{"a repair at any time", "V18", small, 0, freeze(freezeRule{}).Explore},
	}}
}

func failChapter() chapter {
	return chapter{"Failing a run from outside", "The reaper ends a run that is too old while a finalizer publishes it.", []variant{
		{"a finalizing run is never failed", "", small, 0, failRun(failRule{}).Explore},
		{"a finalizing run may be failed", "V13", small, 0, failRun(failRule{failsFinalizing: true}).Explore},
	}}
}
