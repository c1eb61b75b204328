package model

func repairChapter() chapter {
	of := func(rule repairRule, finalizers, repairs int) func(int) Result {
		return forcedRepair(rule, finalizers, repairs).Explore
	}
	return chapter{"Forced repair", "Run A has committed and has lost a part. It is repaired once or twice while finalizers of every generation still run, and a successor takes the fence at any point.", []variant{
		{"a repair takes a new generation and the fence stays committed", "", medium, 0, of(repairRule{}, 2, 2)},
		{"the same, with three finalizers", "", huge, 0, of(repairRule{}, 3, 2)},
		{"a repair also commits the fence of a run whose publication was cut short", "", medium, 0, of(repairRule{endsPublication: true}, 2, 2)},
		{"a repair opens the fence, as a resume does", "V17", small, 0, of(repairRule{opens: true, sidecarFirst: true}, 2, 2)},
		{"it opens the fence, and a successor does not verify the lost part", "V8", medium, 0, of(repairRule{opens: true, trustsLost: true, sidecarFirst: true}, 2, 2)},
		{"the same, and the successor reads the sidecar after it has captured the pair", "V17", huge, 0, of(repairRule{opens: true, trustsLost: true}, 3, 2)},
		{"the repaired part has every row at the end of the window, not only those delivered", "V10", medium, 0, of(repairRule{readsWindow: true}, 2, 2)},
		{"the sidecar is stored without a version", "V5", medium, 0, of(repairRule{putsSidecar: true}, 3, 2)},
		{"the repair's finalizer does not read the fence", "V8", medium, 0, of(repairRule{ignoresFence: true}, 2, 2)},
		{"it adopts the success that stands", "V17", medium, 0, of(repairRule{keepsAny: true}, 2, 2)},
	}}
}

func reanchorChapter() chapter {
	one, twoPlanners, twoResumes := reanchorScope{1, 1, 1}, reanchorScope{1, 1, 2}, reanchorScope{2, 1, 1}
	of := func(rule reanchorRule, scope reanchorScope) func(int) Result { return reanchor(rule, scope).Explore }
	return chapter{"Re-anchoring", "The cursor document is deleted while a run plans, extracts, is resumed and publishes. A new run starts over from what the destination holds.", []variant{
		{"tombstones, then the generation, then the position, then the document is created; two planners", "", medium, 0, of(reanchorRule{}, twoPlanners)},
		{"the same, with two resumes of the lost run", "", small, 0, of(reanchorRule{}, twoResumes)},
		{"the same, with two workers, two resumes and two planners", "", huge, 4_000_000, of(reanchorRule{}, reanchorScope{2, 2, 2})},
		{"the generation starts again at 1", "V8", small, 0, of(reanchorRule{restarts: true}, one)},
		{"the generation is the maximum, not one more", "V4", small, 0, of(reanchorRule{takesMaximum: true}, one)},
		{"names of parts do not count for the maximum", "V4", small, 0, of(reanchorRule{ignoresPartNames: true}, twoResumes)},
		{"names in the quarantine do not count for it", "V4", small, 0, of(reanchorRule{ignoresQuarantine: true}, twoResumes)},
		{"plans without a sidecar are not tombstoned", "V10", small, 0, of(reanchorRule{leavesUnsealed: true}, one)},
		{"the maximum is taken before the tombstones are put", "V12", small, 0, of(reanchorRule{countsBeforeSealing: true}, one)},
		{"the position is taken before the tombstones are put", "V10", small, 0, of(reanchorRule{readsBeforeSealing: true}, one)},
		{"the document is stored, not created", "V8", small, 0, of(reanchorRule{putsDocument: true}, twoPlanners)},
		{"a resume's quarantine does not read the fence between listing and moving", "V4", small, 0, of(reanchorRule{quarantinesUnchecked: true}, one)},
	}}
}

func partitionChapter() chapter {
	of := func(rule partitionRule, planners int, last run) func(int) Result {
		return partitions(rule, planners, last).Explore
	}
	return chapter{"Partitions", "A run has one commit point, and each partition's pair is derived from it. Two partitions, two finalizers of the first run.", []variant{
		{"one sidecar a run; a roll-forward rewrites the pair of every partition; two planners of the successor", "", medium, 0, of(partitionRule{}, 2, runB)},
		{"the same, and a third run", "", huge, 0, of(partitionRule{}, 2, runC)},
		{"a sidecar for each partition", "V10", small, 0, of(partitionRule{sidecarEach: true}, 1, runB)},
		{"a roll-forward rewrites the first pair only", "V10", small, 0, of(partitionRule{rollsFirstOnly: true}, 1, runB)},
		{"a pair is captured when its turn comes, after the fence was read", "V8", small, 0, of(partitionRule{capturesLate: true}, 1, runB)},
		{"the cursor moves after the first pair", "V10", small, 0, of(partitionRule{cursorEarly: true}, 1, runB)},
	}}
}

func tieChapter() chapter {
	of := func(rule tieRule, last run) func(int) Result { return ties(rule, last).Explore }
	return chapter{"Cursor ties", "Rows arrive at any time, with the cursor value at which a window ends too. Runs follow and overlap one another; a window is read by two tasks, each of which may be tried again.", []variant{
		{"rows at the position whose keys are not delivered belong to the next window; two runs", "", small, 0, of(tieRule{}, runB)},
		{"the same, with three runs", "", medium, 0, of(tieRule{}, runC)},
		{"without a key: the window begins at the position, repeats are counted; two runs", "", small, 0, of(tieRule{keyless: true}, runB)},
		{"only greater values are read", "V10", medium, 0, of(tieRule{strictly: true}, runC)},
		{"rows at the position are read whether delivered or not", "V10", medium, 0, of(tieRule{forgetsDelivered: true}, runC)},
		{"the delivered keys are those that the planner saw", "V10", medium, 0, of(tieRule{deliveredAtPlan: true}, runC)},
		{"the upper bound is what was read, not fixed at plan time", "V10", small, 0, of(tieRule{endsWhereRead: true}, runC)},
		{"a window that ends where it began forgets the keys delivered before it", "V10", medium, 0, of(tieRule{replacesKeys: true}, runC)},
		{"a roll-forward takes the position without its keys", "V10", medium, 0, of(tieRule{rollsValueOnly: true}, runC)},
		{"without a key: repeats are not counted", "V10", medium, 0, of(tieRule{keyless: true, miscounts: true}, runC)},
	}}
}
