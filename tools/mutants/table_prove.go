package main

const (
	proveFile      = "shared/prove/prove.go"
	provenRun      = "shared/prove/run.go"
	provenRuns     = "shared/prove/discover.go"
	provenKeys     = "shared/prove/partition.go"
	provenCounts   = "shared/prove/counts.go"
	provenWindow   = "shared/prove/window.go"
	provenFindings = "shared/prove/finding.go"
)

func proving(test string) catcher { return catcher{pkg: provePackage, test: test} }

// planted is a fault that is planted in an otherwise good run.
func planted(fault string) catcher { return proving("TestPlantedFaultsAreNamed/" + fault) }

// gone is an object that was changed behind a good run.
func gone(fault string) catcher { return proving("TestObjectsThatAreGoneOrDiffer/" + fault) }

// ofWindow is a fault of the window of a run.
func ofWindow(fault string) catcher {
	return proving("TestWindowOfARunIsWhatItsTasksHaveRead/" + fault)
}

// unchained is a history whose windows do not follow one another.
func unchained(fault string) catcher {
	return proving("TestWindowsThatDoNotFollowOneAnother/" + fault)
}

// proveMutants take one check after the other out of prove: what contradicts or
// lacks a proof is then proven.
var proveMutants = []mutant{
	{
		name: "proven-across-a-gap", rule: "prove, V3",
		removes:  "where a task ends another one begins",
		edits:    []edit{does(provenKeys, "chainOfRanges", `f.find(keyGap, last.Task, "no task goes on where task %s ends", last.Task)`, "")},
		caughtBy: planted("the last task is dropped"),
	},
	{
		name: "proven-without-the-first-keys", rule: "prove, V3",
		removes:  "one task has no lower bound",
		edits:    []edit{does(provenKeys, "chainOfRanges", `f.find(keyGap, "", "no task has the first keys: each has a lower bound")`, "")},
		caughtBy: planted("the first task is dropped"),
	},
	{
		name: "proven-with-two-tasks-from-one-bound", rule: "prove, V3",
		removes:  "one task begins at a bound",
		edits:    []edit{does(provenKeys, "chainOfRanges", `f.find(keyOverlap, twin.Task, "task %s begins where task %s begins", twin.Task, next[0].Task)`, "")},
		caughtBy: planted("a repair is counted beside what it repairs"),
	},
	{
		name: "proven-in-a-circle", rule: "prove, V3",
		removes:  "no task ends where one before it begins",
		edits:    []edit{does(provenKeys, "chainOfRanges", `f.find(keyOverlap, t.Task, "task %s ends where task %s begins, which comes before it", last.Task, t.Task)`, "")},
		caughtBy: planted("a task goes back to where another began"),
	},
	{
		name: "proven-with-tasks-left-over", rule: "prove, V3",
		removes:  "every task is in the chain from the first key to the last",
		edits:    []edit{holds(provenKeys, "chainOfRanges", "!seen[t.Task]", "false")},
		caughtBy: planted("a task reaches into the next one"),
	},
	{
		name: "proven-with-a-bound-in-both", rule: "prove, V3",
		removes:  "a bound is not in both of its tasks",
		edits:    []edit{holds(provenKeys, "joint", "upper.Inclusive && lower.Inclusive", "false")},
		caughtBy: planted("the bound between two tasks is in both"),
	},
	{
		name: "proven-with-a-bound-in-neither", rule: "prove, V3",
		removes:  "a bound is in one of its tasks",
		edits:    []edit{holds(provenKeys, "joint", "!upper.Inclusive && !lower.Inclusive", "false")},
		caughtBy: planted("the bound between two tasks is in neither"),
	},
	{
		name: "proven-with-bounds-of-another-shape", rule: "prove",
		removes:  "a bound has a value for each column of the key",
		edits:    []edit{holds(provenKeys, "wellFormed", "b != nil && len(b.Key) != columns", "false")},
		caughtBy: planted("a bound of two values for a key of one column"),
	},
	{
		name: "proven-without-the-NULL-keys", rule: "prove",
		removes:  "a key that can be NULL has a task of the rows where it is",
		edits:    []edit{holds(provenKeys, "nullKeys", "nullable && r.Within == nil && len(null) == 0", "false")},
		caughtBy: planted("the task of the NULL keys is dropped"),
	},
	{
		name: "proven-with-the-NULL-keys-twice", rule: "prove",
		removes:  "one task has the rows whose key is NULL",
		edits:    []edit{does(provenKeys, "nullKeys", `f.find(nullKeysOverlap, t.Task, "task %s has the rows with a NULL key, as task %s has", t.Task, null[0].Task)`, "")},
		caughtBy: planted("two tasks have the NULL keys"),
	},
	{
		name: "proven-with-all-rows-beside-some", rule: "prove",
		removes:  "no task of all rows stands beside tasks by key",
		edits:    []edit{does(provenKeys, "partition", `f.find(keyOverlap, t.Task, "task %s has every row, beside tasks by key", t.Task)`, "")},
		caughtBy: planted("a task has all rows beside the others"),
	},
	{
		name: "proven-without-any-task-of-a-table", rule: "prove",
		removes:  "without a key one task has all rows",
		edits:    []edit{holds(provenKeys, "wholeTable", "len(all) == 0", "false")},
		caughtBy: planted("ranges of no key"),
	},
	{
		name: "proven-with-ranges-of-no-key", rule: "prove",
		removes:  "a record without a key has no task of one",
		edits:    []edit{does(provenKeys, "wholeTable", `f.find(boundShape, t.Task, "task %s is of a key, and the record names none", t.Task)`, "")},
		caughtBy: planted("ranges of no key"),
	},
	{
		name: "proven-though-nothing-was-read", rule: "prove",
		removes:  "a run without tasks is proven only where its window is empty",
		edits:    []edit{holds(provenKeys, "partition", "nothingToRead(r) && len(all)+len(null)+len(ranges) == 0", "len(all)+len(null)+len(ranges) == 0")},
		caughtBy: planted("every task is dropped"),
	},
	{
		name: "proven-with-a-task-twice", rule: "prove",
		removes:  "a task stands once in the record",
		edits:    []edit{does(provenCounts, "lineage", `f.find(taskLineage, t.Task, "task %s stands twice in the record", t.Task)`, "")},
		caughtBy: planted("a task that stands twice"),
	},
	{
		name: "proven-with-a-rest-of-another-split", rule: "prove",
		removes:  "the rest of a split begins where its parent ends",
		edits:    []edit{holds(provenCounts, "lineage", "parent.Predicate.Upper == nil || text(parent.Predicate.Upper) != text(t.Predicate.Lower)", "false")},
		caughtBy: planted("a rest that does not begin where its parent ends"),
	},
	{
		name: "proven-without-what-does-it-again", rule: "prove",
		removes:  "a task that was done again has its repair in the record",
		edits:    []edit{does(provenCounts, "lineage", `f.find(taskLineage, t.Task, "task %s was done again by task %s, which is not in the record", t.Task, t.SupersededBy)`, "")},
		caughtBy: planted("a task in the middle is dropped"),
	},
	{
		name: "proven-with-a-repair-of-nothing", rule: "prove",
		removes:  "a repair and what it repairs name each other",
		edits:    []edit{holds(provenCounts, "lineage", `t.RepairOf != "" && byID[t.RepairOf].SupersededBy != t.Task`, "false")},
		caughtBy: planted("a task that was done again is dropped"),
	},
	{
		name: "proven-with-a-part-of-two-tasks", rule: "prove",
		removes:  "a part is of one task",
		edits:    []edit{does(provenCounts, "counts", `f.find(partList, t.Task, "part %s is of task %s and of task %s", part, other, t.Task)`, "")},
		caughtBy: planted("a part is of two tasks"),
	},
	{
		name: "proven-with-a-part-that-is-not-listed", rule: "prove, V6",
		removes:  "every part of a task is in the manifest",
		edits:    []edit{does(provenCounts, "counts", `f.find(partList, t.Task, "part %s of task %s is not in the manifest", part, t.Task)`, "")},
		caughtBy: planted("the manifest leaves a part out"),
	},
	{
		name: "proven-with-a-part-of-no-task", rule: "prove, V6",
		removes:  "every part of the manifest is of a task",
		edits:    []edit{does(provenCounts, "counts", `f.find(partList, "", "part %s of the manifest is of no task", p.Path)`, "")},
		caughtBy: planted("ranges of no key"),
	},
	{
		name: "proven-with-rows-of-another-task", rule: "prove, V19",
		removes:  "a task has read as many rows as its parts have",
		edits:    []edit{holds(provenCounts, "counts", "whole && sum != t.Rows", "false")},
		caughtBy: planted("one row has gone from one task to another"),
	},
	{
		name: "proven-with-a-row-too-few", rule: "prove, V19",
		removes:  "the tasks have read as many rows as the manifest has",
		edits:    []edit{holds(provenCounts, "counts", "total != m.RowCount", "false")},
		caughtBy: planted("the manifest has one row less"),
	},
	{
		name: "proven-by-the-name-of-another-record", rule: "prove",
		removes:  "a manifest names the record of its own generation",
		edits:    []edit{holds(provenRun, "prover.record", "ref.Key != want", "false")},
		caughtBy: planted("the manifest names the record of another run"),
	},
	{
		name: "proven-by-a-record-that-has-changed", rule: "prove, V5",
		removes:  "a record has the fingerprint that its manifest names",
		edits:    []edit{holds(provenRun, "prover.record", "got != ref.Fingerprint", "false")},
		caughtBy: planted("the manifest has another fingerprint"),
	},
	{
		name: "proven-by-the-record-of-another-run", rule: "prove",
		removes:  "a record is of its manifest's run, export and generation",
		edits:    []edit{holds(provenRun, "prover.record", "record.RunID != m.RunID || record.Export != m.ExportName || record.Generation != m.Generation", "false")},
		caughtBy: planted("the record is of another generation"),
	},
	{
		name: "proven-by-a-revoked-record", rule: "prove, ADR-0007",
		removes:  "no revoked generation has committed",
		edits:    []edit{holds(provenRun, "prover.record", "record.RevokedBy != 0", "false")},
		caughtBy: planted("the record revokes the generation"),
	},
	{
		name: "proven-without-a-record", rule: "prove",
		removes:  "a manifest without a record is not proven",
		edits:    []edit{does(provenRun, "prover.record", `f.find(noRecord, "", "the manifest names no run record: its writer keeps none, so nothing says which rows its tasks have read")`, "")},
		caughtBy: planted("the manifest names no record"),
	},
	{
		name: "proven-though-the-record-is-gone", rule: "prove",
		removes:  "a record that is gone proves nothing",
		edits:    []edit{does(provenRun, "prover.record", `f.find(recordMissing, "", "%s is not there", ref.Key)`, "")},
		caughtBy: gone("the record is gone"),
	},
	{
		name: "proven-without-its-parts", rule: "prove, M5",
		removes:  "the parts are looked for",
		edits:    []edit{ahead(provenRun, "prover.parts", "prefix, committed := destination.Prefixed(", "return")},
		caughtBy: gone("a part is gone"),
	},
	{
		name: "deep-proof-is-not-deep", rule: "prove, M5",
		removes:  "a deep proof counts the rows of parts",
		edits:    []edit{holds(provenRun, "prover.parts", "p.o.Deep && found.Intact()", "false")},
		caughtBy: proving("TestDeepCountsTheRowsOfParts"),
	},
	{
		name: "proven-by-a-manifest-of-another-name", rule: "prove, M4",
		removes:  "a manifest stands under the name of its run",
		edits:    []edit{holds(provenRun, "prover.run", "at.name != want", "false")},
		caughtBy: gone("the manifest stands under another name too"),
	},
	{
		name: "proven-with-a-run-twice", rule: "prove, M4",
		removes:  "a run has one Success manifest",
		edits:    []edit{does(proveFile, "prover.compareRuns", `p.find(runTwice, "", "run %s has two Success manifests, %s and %s: a loader of both has its rows twice", run, at, m.prefix+m.name)`, "")},
		caughtBy: gone("the manifest stands under another name too"),
	},
	{
		name: "proven-with-a-part-in-two-manifests", rule: "prove, V10",
		removes:  "a part is of one run",
		edits:    []edit{does(proveFile, "prover.compareRuns", `p.find(partTwice, "", "part %s is listed by run %s and by run %s: a loader of both has its rows twice", key, other, run)`, "")},
		caughtBy: proving("TestOtherManifestsOfThePrefix"),
	},
	{
		name: "nothing-is-proven", rule: "prove",
		removes:  "an export without a Success manifest is not proven",
		edits:    []edit{holds(proveFile, "Prove", "len(r.Runs) == 0", "false")},
		caughtBy: gone("the manifest is gone"),
	},
	{
		name: "sealed-runs-are-proven", rule: "prove, D15",
		removes:  "a tombstone is no Success manifest",
		edits:    []edit{holds(provenRuns, "prover.take", "s.manifest.Status == contract.StatusSuccess", "true")},
		caughtBy: proving("TestOtherManifestsOfThePrefix"),
	},
	{
		name: "proven-beside-a-manifest-that-cannot-be-read", rule: "prove",
		removes:  "a manifest that cannot be read leaves nothing proven",
		edits:    []edit{does(provenRuns, "prover.take", `p.find(manifestUnreadable, "", "%s: %v", prefix+s.name, s.err)`, "")},
		caughtBy: gone("a manifest cannot be read"),
	},
	{
		name: "other-prefixes-are-not-looked-at", rule: "prove",
		removes:  "runs with prefixes of their own are found by their plans",
		edits:    []edit{holds(provenRuns, "prover.discover", "p.settled[token]", "true")},
		caughtBy: proving("TestRunsInPrefixesOfTheirOwn"),
	},
	{
		name: "proven-with-another-window-than-recorded", rule: "prove, V10",
		removes:  "the windows of manifest and record are the same",
		edits:    []edit{holds(provenWindow, "window", "!reflect.DeepEqual(m.Position, r.Window)", "false")},
		caughtBy: ofWindow("the manifest moves further"),
	},
	{
		name: "proven-with-tasks-of-another-window", rule: "prove, V10",
		removes:  "the tasks have read the window that the position moves over",
		edits:    []edit{holds(provenWindow, "window", "!bounded(*w, *within)", "false")},
		caughtBy: ofWindow("the tasks begin later"),
	},
	{
		name: "proven-with-the-first-value-left-out", rule: "prove, cursor ties",
		removes:  "the first value of a window is read again where rows may come to it late",
		edits:    []edit{holds(provenWindow, "bounded", "within.FromIncluded == grows", "false")},
		caughtBy: ofWindow("the tasks leave the first value out"),
	},
	{
		name: "proven-with-the-last-value-left-out", rule: "prove, cursor ties",
		removes:  "the last value of a window is read where its keys are kept",
		edits:    []edit{reads(provenWindow, "bounded", "return !within.ToExcluded ||", "return !within.ToExcluded || $on ||")},
		caughtBy: ofWindow("the tasks leave the last value out, whose keys are kept"),
	},
	{
		name: "proven-with-a-window-that-nobody-read", rule: "prove, V10",
		removes:  "a position that moves has tasks that read its window",
		edits:    []edit{holds(provenWindow, "window", "!w.From.Equal(w.To)", "false")},
		caughtBy: ofWindow("the tasks have read no window"),
	},
	{
		name: "proven-with-a-key-that-is-not-kept", rule: "prove, cursor ties",
		removes:  "the position keeps the keys that were delivered at its value",
		edits:    []edit{holds(provenWindow, "window", "kept != end", "false")},
		caughtBy: ofWindow("a key was delivered that is not kept"),
	},
	{
		name: "proven-over-a-window-that-is-gone", rule: "prove, V10",
		removes:  "the first window begins at none",
		edits:    []edit{does(provenWindow, "prover.chain", `p.find(windowGap, "", "the window of run %s begins at a position, and no Success manifest has the rows up to it", run)`, "")},
		caughtBy: unchained("the first manifest is gone"),
	},
	{
		name: "proven-over-a-gap-between-windows", rule: "prove, V10",
		removes:  "a window begins where the one before it ended",
		edits:    []edit{does(provenWindow, "prover.chain", `p.find(windowGap, "", "the window of run %s does not begin where that of run %s ended, and no Success manifest has the rows between", run, before)`, "")},
		caughtBy: unchained("a value was skipped"),
	},
	{
		name: "proven-with-a-window-read-twice", rule: "prove, V10",
		removes:  "no window begins where an earlier one began",
		edits:    []edit{does(provenWindow, "prover.chain", `p.find(windowOverlap, "", "the window of run %s begins where that of run %s began, and not where that of run %s ended: rows are in both", run, began[i].manifest.RunID, before)`, "")},
		caughtBy: unchained("a window was read again"),
	},
	{
		name: "many-findings-are-a-proof", rule: "prove",
		removes:  "findings that are cut count as wrong",
		edits:    []edit{holds(provenFindings, "findings.all", "f.more > 0", "false")},
		caughtBy: proving("TestManyFindingsAreCut"),
	},
}
