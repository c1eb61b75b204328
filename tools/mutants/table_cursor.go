package main

const (
	windowFile   = "functions/planner/window.go"
	frozenFile   = "shared/commit/window.go"
	cursorFile   = "shared/chunkplan/cursor.go"
	plannedFile  = "shared/chunkplan/plan.go"
	sameKeyFile  = "shared/chunkplan/samekey.go"
	rangesFile   = "shared/chunkplan/tasks.go"
	positionFile = "shared/contract/cursor.go"
)

// cursorMutants break the windows of the modes with a cursor: where one begins
// and ends, which rows at its ends belong to it, and where the position goes
// (architecture §4.2).
var cursorMutants = []mutant{
	{
		name: "second-life-with-the-window-of-the-first", rule: "V10, ADR-0006",
		removes:  "a run that lives again with its plan reads a window only from where the position is",
		edits:    []edit{holds("functions/planner/prepare.go", "fromPosition", "plan.Window == nil || position.Equal(plan.Window.From)", "true")},
		caughtBy: simulated("TestSecondLifeOfARunThatPublishedNothingHasNoWindow"),
	},
	// Which cursor a position is of.
	{
		name: "position-of-another-kind", rule: "CUR-07",
		removes:  "the value of a key that grows is not that of a cursor column",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.Kind == q.Kind", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another kind"),
	},
	{
		name: "position-of-another-column", rule: "CUR-06",
		removes:  "the value of one column is not that of another",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.Column == q.Column", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another column"),
	},
	{
		name: "position-of-another-pair", rule: "CUR-06",
		removes:  "the value of a column is not that of two",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.Fallback == q.Fallback", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/two columns"),
	},
	{
		name: "position-of-another-type", rule: "CUR-07",
		removes:  "the value of one type is not that of another",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.Type == q.Type", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another type"),
	},
	{
		name: "position-in-another-order", rule: "CUR-07",
		removes:  "what is behind a value in one order of text may be before it in another",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.sameOrder(q)", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another order"),
	},
	{
		name: "position-of-another-table", rule: "CUR-08",
		removes:  "the value of one table is not that of another",
		edits:    []edit{holds(positionFile, "Position.SameCursor", "p.Relation == q.Relation", "true")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another table"),
	},
	{
		name: "schemas-are-one", rule: "CUR-08",
		removes:  "tables of two schemas are two",
		edits:    []edit{holds(windowFile, "relationName", `r.Schema != ""`, "false")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/a table of another schema"),
	},
	{
		name: "queries-are-one", rule: "CUR-08",
		removes:  "two queries are two",
		edits:    []edit{reads(windowFile, "relationName", "contract.FingerprintOf([]byte(r.Query))", `map[bool]contract.Fingerprint{true: contract.FingerprintOf([]byte("select 2")), false: contract.FingerprintOf([]byte(r.Query))}[$on]`)},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused/another query"),
	},
	{
		name: "another-cursor-is-planned", rule: "CUR-06",
		removes:  "no window starts from the position of another cursor",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "from != nil && !from.SameCursor(*cursor)", "false")},
		caughtBy: planning("TestPositionOfAnotherCursorIsRefused"),
	},
	{
		name: "whole-table-beside-its-windows", rule: "CUR-06, V10",
		removes:  "an export with a position is not read in a mode without one",
		edits:    []edit{holds(prepareFile, "planner.makePlan", "position != nil && !p.export.KeepsPosition()", "false")},
		caughtBy: planning("TestResumeInAModeWithoutAPositionIsRefused"),
	},
	// What the source is asked.
	{
		name: "delivered-keys-not-said", rule: "CUR-03",
		removes:  "the source is told what is delivered at the position",
		edits:    []edit{holds(windowFile, "draft.cursorEnd", "known", "false")},
		caughtBy: planning("TestWhatTheSourceIsAsked/delivered rows"),
	},
	{
		name: "keys-of-another-key-said", rule: "CUR-03",
		removes:  "delivered keys of a key that is gone mean nothing",
		edits:    []edit{holds(windowFile, "draft.cursorEnd", "known", "true")},
		caughtBy: planning("TestWhatTheSourceIsAsked/delivered rows by a key that is gone"),
	},
	{
		name: "young-rows-are-read", rule: "settle",
		removes:  "rows settle before they are read",
		edits:    []edit{reads(windowFile, "draft.cursorEnd", "s := d.export.Settle; s != nil", "s := d.export.Settle; s != nil && !$on")},
		caughtBy: planning("TestWhatTheSourceIsAsked/rows settle by the cursor"),
	},
	{
		name: "age-by-the-cursor-only", rule: "settle",
		removes:  "rows settle by the column that the config names",
		edits:    []edit{holds(windowFile, "draft.cursorEnd", `s.Column == ""`, "true")},
		caughtBy: planning("TestWhatTheSourceIsAsked/rows settle by a column"),
	},
	// Where a window begins and ends.
	{
		name: "late-equals-are-lost", rule: "CUR-03, V10",
		removes:  "rows that come late to the position are in the next window",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "!d.export.KeysetIncremental", "false")},
		caughtBy: planning("TestWindowOfAPosition/greater values"),
	},
	{
		name: "last-key-comes-again", rule: "CUR-14",
		removes:  "the key that a keyset position is at is not read again",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "!d.export.KeysetIncremental", "true")},
		caughtBy: planning("TestWindowOfAPosition/a key that grows"),
	},
	{
		name: "position-goes-down", rule: "CUR-11, V9",
		removes:  "a source below the position leaves it where it is",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "end.Found && end.Order > 0", "end.Found && end.Order != 0")},
		caughtBy: planning("TestWindowOfAPosition/a source below the position"),
	},
	{
		name: "crowded-value-is-read", rule: "CUR-10",
		removes:  "a value with more rows than can be kept waits",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "!d.keepable(nil, end.Ties, end.TieBytes)", "false")},
		caughtBy: planning("TestWindowOfAPosition/a row too many"),
	},
	{
		name: "crowd-without-bound-of-rows", rule: "CUR-10",
		removes:  "the number of keys that are kept is bounded",
		edits:    []edit{holds(windowFile, "draft.keepable", "rows <= contract.MaxDeliveredKeys", "true")},
		caughtBy: planning("TestWindowOfAPosition/a row too many"),
	},
	{
		name: "crowd-without-bound-of-bytes", rule: "CUR-10",
		removes:  "the bytes of the keys that are kept are bounded",
		edits:    []edit{holds(windowFile, "draft.keepable", "bytes <= runstate.MaxHiKeyBytes", "true")},
		caughtBy: planning("TestWindowOfAPosition/a byte too many"),
	},
	{
		name: "delivered-rows-not-counted", rule: "CUR-10",
		removes:  "late rows are kept beside those that are delivered",
		edits:    []edit{holds(windowFile, "draft.keepable", "at != nil", "false")},
		caughtBy: planning("TestWindowOfAPosition/a late row too many"),
	},
	{
		name: "late-crowd-is-read", rule: "CUR-10",
		removes:  "too many late rows wait for a greater value",
		edits:    []edit{holds(windowFile, "draft.readsLate", "d.keepable(beside, end.FromTies, end.FromTieBytes)", "true")},
		caughtBy: planning("TestWindowOfAPosition/a late row too many"),
	},
	{
		name: "keys-of-a-lost-key-counted", rule: "CUR-10",
		removes:  "delivered keys that mean nothing are not kept",
		edits:    []edit{holds(windowFile, "draft.readsLate", "!known", "false")},
		caughtBy: planning("TestWindowOfAPosition/the key of the position is gone"),
	},
	{
		name: "nothing-but-a-crowd-is-planned", rule: "CUR-10",
		removes:  "a first run that would wait for ever is refused",
		edits:    []edit{holds(windowFile, "draft.waits", "!before.Found", "false")},
		caughtBy: simulated("TestNothingButACrowdedValueIsRefused"),
	},
	{
		name: "late-rows-are-not-read", rule: "CUR-03",
		removes:  "late rows are read without any greater value",
		edits:    []edit{holds(windowFile, "draft.positionWindow", "!d.readsLate(plan, from, end, known)", "true")},
		caughtBy: planning("TestWindowOfAPosition/rows that came late"),
	},
	{
		name: "empty-window-is-read", rule: "CUR-01",
		removes:  "a window without rows is not read",
		edits:    []edit{holds(windowFile, "draft.readsLate", "end.FromTies == 0", "false")},
		caughtBy: planning("TestWindowOfAPosition/nothing new"),
	},
	{
		name: "last-key-comes-again-alone", rule: "CUR-14",
		removes:  "a key that has not grown has nothing late",
		edits:    []edit{holds(windowFile, "draft.readsLate", "d.export.KeysetIncremental", "false")},
		caughtBy: planning("TestWindowOfAPosition/a key that has not grown"),
	},
	{
		name: "keyless-late-rows-are-lost", rule: "CUR-03",
		removes:  "without a key the rows at the position are read again",
		edits:    []edit{holds(windowFile, "draft.readsLate", "end.Order == 0", "false")},
		caughtBy: planning("TestWindowOfAPosition/rows at the position, without a key"),
	},
	{
		name: "empty-window-has-tasks", rule: "CUR-01",
		removes:  "a run whose window has nothing has no task",
		edits:    []edit{holds(prepareFile, "draft.tasks", "plan.Window != nil && plan.Within == nil", "false")},
		caughtBy: planning("TestWindowOfAPosition/nothing new"),
	},
	{
		name: "delivered-key-not-named", rule: "CUR-03",
		removes:  "a position says which columns its delivered keys are of",
		edits:    []edit{does(windowFile, "draft.positionWindow", "to.KeyColumns = append(to.KeyColumns, k.Name)", "_ = k")},
		caughtBy: planning("TestWindowOfAPosition/greater values"),
	},
	{
		name: "rows-without-a-cursor-not-counted", rule: "CUR-05",
		removes:  "rows that are in no window are counted",
		edits:    []edit{reads(windowFile, "draft.positionWindow", "plan.NullRows = end.Nulls;", "plan.NullRows = map[bool]int64{false: end.Nulls}[$on];")},
		caughtBy: simulated("TestRowsWithoutACursorAreCounted"),
	},
	{
		name: "window-of-time-of-now", rule: "V18",
		removes:  "a window of time ends when the run was scheduled",
		edits:    []edit{reads(windowFile, "planner.scheduled", "t := p.trigger.ScheduledTime; t != nil", "t := p.trigger.ScheduledTime; t != nil && !$on")},
		caughtBy: planning("TestWindowOfTimeStaysWithTheRun"),
	},
	{
		name: "unscheduled-window-of-now", rule: "V18",
		removes:  "a window of time without a schedule ends when the run was created",
		edits:    []edit{does(windowFile, "planner.scheduled", "return p.run.CreatedAt", "return p.Clock.Now()")},
		caughtBy: planning("TestWindowOfTimeStaysWithTheRun"),
	},
	{
		name: "days-of-the-window-not-counted", rule: "time_window",
		removes:  "a window of time begins so many days before",
		edits:    []edit{ahead(windowFile, "draft.timeWindow", "w, nulls, err := d.source.TimeWindow(", "from = to")},
		caughtBy: planning("TestWindowOfTimeStaysWithTheRun"),
	},
	// How a window is cut, and which rows at its start are left out.
	{
		name: "key-of-the-position-not-kept", rule: "CUR-03",
		removes:  "the key that tells delivered rows apart is preferred",
		edits:    []edit{ahead(cursorFile, "Choice.PreferIdentity", "at := slices.IndexFunc(", "return false")},
		caughtBy: planning("TestWindowOfAPosition/the key of the position is another than the first"),
	},
	{
		name: "delivered-rows-come-again", rule: "CUR-03, V10",
		removes:  "delivered rows are left out of the next window",
		edits:    []edit{ahead(plannedFile, "Plan.Limits", "w := *p.Within", "return p.Within")},
		caughtBy: cutting("TestLimits"),
	},
	{
		name: "rows-left-out-by-another-key", rule: "CUR-03, V10",
		removes:  "delivered keys of other columns leave nothing out",
		edits:    []edit{reads(plannedFile, "Plan.Limits", "!p.SameKey(*p.Window.From)", "!$on && !p.SameKey(*p.Window.From)")},
		caughtBy: cutting("TestLimits"),
	},
	{
		name: "rows-left-out-by-a-key-of-another-type", rule: "CUR-03, V10",
		removes:  "a delivered key is read as the type that it was of",
		edits:    []edit{holds(sameKeyFile, "SameKey", "!sameText(p.KeyTypes[i], k.Native)", "false")},
		caughtBy: planning("TestWindowOfAPosition/the key of the position was of another type"),
	},
	{
		name: "position-without-the-types-of-its-key", rule: "CUR-03, V10",
		removes:  "a position says of which types its delivered keys are",
		edits:    []edit{does(windowFile, "draft.positionWindow", "to.KeyTypes = append(to.KeyTypes, k.Native)", "")},
		caughtBy: planning("TestWindowOfAPosition/a first run"),
	},
	{
		name: "rows-without-a-cursor-are-read", rule: "CUR-05",
		removes:  "no range of a window has rows without a key",
		edits:    []edit{holds(rangesFile, "Choice.Tasks", "c.nullable() && c.Cursor == nil", "c.nullable()")},
		caughtBy: simulated("TestIncrementalRunsDeliverEveryRowOnce/1 tasks, that split false"),
	},
	{
		name: "window-is-cut-without-a-key", rule: "PLN-14",
		removes:  "a window without a key is one task",
		edits:    []edit{reads(cursorFile, "Choice.Sized", "if c.Unique && c.facts.Kind", "if ($on || c.Unique) && c.facts.Kind")},
		caughtBy: cutting("TestAWindowIsCutByItsOwnSize"),
	},
	{
		name: "window-is-cut-by-the-table", rule: "§4.2",
		removes:  "a window is cut by its own size",
		edits:    []edit{ahead(cursorFile, "Choice.Sized", "if c.facts.Rows > 0", "rows = c.facts.Rows")},
		caughtBy: cutting("TestAWindowIsCutByItsOwnSize"),
	},
	{
		name: "continuing-behind-half-a-key", rule: "CUR-14",
		removes:  "a key that grows is unique by itself",
		edits:    []edit{holds(cursorFile, "Choice.continuing", "len(k.Columns) != 1", "false")},
		caughtBy: cutting("TestChooseByCursorRefuses"),
	},
	{
		name: "two-columns-of-two-types", rule: "CUR-07",
		removes:  "two columns are one cursor only if they are of one type",
		edits:    []edit{holds(cursorFile, "Choice.byCursor", "second.Native != cursor.Native", "false")},
		caughtBy: cutting("TestChooseByCursorRefuses"),
	},
	{
		name: "cursor-stands-twice-in-the-key", rule: "§4.2",
		removes:  "a cursor that is the key stands once in it",
		edits:    []edit{holds(cursorFile, "Choice.windowed", `cursor.Fallback != "" || k.Name != cursor.Name`, "true")},
		caughtBy: cutting("TestChooseByCursor"),
	},
	// What is read, and what is kept of it.
	{
		name: "repair-reads-late-rows", rule: "V10, ADR-0003",
		removes:  "a repair reads at the end of its window what was delivered there",
		edits:    []edit{ahead(extractFile, "Job.window", "limited := *w", "return w")},
		caughtBy: extracting("TestRepairReadsItsOriginalsRowsOnly/a repair"),
	},
	{
		name: "repair-is-not-told-of-its-original", rule: "V10, ADR-0003",
		removes:  "a task that is done again knows the one that it repairs",
		edits:    []edit{reads(chunkFile, "handler.extract", "Repairs: repaired,", "Repairs: map[bool]*runstate.Chunk{false: repaired}[$on],")},
		caughtBy: simulated("TestARepairLeavesLateEqualsToTheNextRun"),
	},
	{
		name: "hi-keys-without-bound", rule: "CUR-10",
		removes:  "a task keeps a bounded number of keys at the end of its window",
		edits:    []edit{holds(extractFile, "loop.note", "len(l.result.HiKeys) > contract.MaxDeliveredKeys", "false")},
		caughtBy: extracting("TestKeysAtTheEndOfAWindowAreBounded/a key too many"),
	},
	{
		name: "hi-key-bytes-without-bound", rule: "CUR-10",
		removes:  "a task keeps a bounded number of bytes of keys",
		edits:    []edit{holds(extractFile, "loop.note", "l.keyBytes > runstate.MaxHiKeyBytes", "false")},
		caughtBy: extracting("TestKeysAtTheEndOfAWindowAreBounded/too long"),
	},
	{
		name: "repeats-not-counted", rule: "CUR-03",
		removes:  "rows that come again without a key are counted",
		edits:    []edit{does(extractFile, "loop.note", "l.result.Repeated += e.AtFrom", "")},
		caughtBy: simulated("TestWithoutAKeyRepeatsAreCounted"),
	},
	// Where the position goes.
	{
		name: "keys-of-one-task-only", rule: "V10",
		removes:  "the delivered keys are those of all tasks",
		edits:    []edit{does(frozenFile, "Frozen.Window", "keys = append(keys, c.HiKeys...)", "keys = c.HiKeys")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/those of all tasks, in one order"),
	},
	{
		name: "keys-of-repaired-tasks", rule: "V10",
		removes:  "the delivered keys are those of live tasks",
		edits:    []edit{ahead(frozenFile, "Frozen.Window", "for _, c := range f.live() {", "for _, c := range f.Chunks { keys = append(keys, c.HiKeys...) }")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/not of one that was repaired"),
	},
	{
		name: "keys-of-the-run-before-are-forgotten", rule: "V10, CUR-03",
		removes:  "a position that has not moved keeps the delivered keys of the run before",
		edits:    []edit{holds(frozenFile, "Frozen.Window", "from.Value == planned.To.Value", "false")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/with those of the run before, where the position has not moved"),
	},
	{
		name: "keys-of-another-value-are-kept", rule: "V10, CUR-03",
		removes:  "a position that has moved has the keys of its own value only",
		edits:    []edit{holds(frozenFile, "Frozen.Window", "from.Value == planned.To.Value", "true")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/without them where it has"),
	},
	{
		name: "keys-of-another-key-are-kept", rule: "V10, CUR-03",
		removes:  "delivered keys are of one key",
		edits:    []edit{holds(frozenFile, "Frozen.Window", "f.Plan.SameKey(*from)", "true")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/without those of another key"),
	},
	{
		name: "keys-in-the-order-of-arrival", rule: "D10, V18",
		removes:  "the delivered keys stand in one order",
		edits:    []edit{does(frozenFile, "Frozen.Window", "slices.SortFunc(keys, slices.Compare[[]string])", "")},
		caughtBy: committing("TestTheKeysAtTheEndOfAWindow/those of all tasks, in one order"),
	},
	{
		name: "window-with-too-many-keys", rule: "CUR-10",
		removes:  "a position has a bounded number of keys",
		edits:    []edit{holds(frozenFile, "Frozen.CheckWindow", "len(w.To.DeliveredKeys) <= contract.MaxDeliveredKeys", "true")},
		caughtBy: committing("TestTooManyKeysAtTheEndOfAWindow"),
	},
	{
		name: "window-with-too-long-keys", rule: "CUR-10",
		removes:  "the keys of a position have a bounded number of bytes",
		edits:    []edit{holds(frozenFile, "Frozen.CheckWindow", "size <= contract.MaxDeliveredKeyBytes", "true")},
		caughtBy: committing("TestTooManyKeysAtTheEndOfAWindow"),
	},
	{
		name: "window-not-checked", rule: "CUR-10, V17",
		removes:  "a run with more keys than can be kept fails",
		edits:    []edit{reads(completeFile, "finalizer.complete", ".CheckWindow(); err != nil &&", ".CheckWindow(); err != nil && !$on &&")},
		caughtBy: simulated("TestTasksThatTogetherKeepTooManyKeysFailTheRun"),
	},
	{
		name: "position-of-another-cursor-rolled-over", rule: "OPEN, V9",
		removes:  "a position is not moved over the window of another cursor",
		edits:    []edit{holds(sealFile, "advanceOver", "doc.Position != nil && !doc.Position.SameCursor(*w.To)", "false")},
		caughtBy: committing("TestPositionMovesOverAWindowThatStartsAtIt/of another column"),
	},
	{
		name: "previous-position-not-kept", rule: "OPEN",
		removes:  "a document that was moved over a window says where it was",
		edits:    []edit{does(sealFile, "advanceOver", "doc.PreviousPosition = doc.Position", "")},
		caughtBy: committing("TestPositionMovesOverAWindowThatStartsAtIt/at the position"),
	},
	{
		name: "positions-by-value-alone", rule: "V9",
		removes:  "positions are equal with their delivered keys",
		edits:    []edit{ahead(positionFile, "Position.Equal", "return reflect.DeepEqual(p, q)", "return p.Value == q.Value")},
		caughtBy: deciding("TestPositionEqual"),
	},
}
