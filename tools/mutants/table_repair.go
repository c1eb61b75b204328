package main

const (
	repairFile       = "functions/planner/repair.go"
	repairCommitFile = "shared/commit/repair.go"
)

// repairMutants break the repair by force of a run that has committed
// (ADR-0003).
var repairMutants = []mutant{
	{
		name: "followed-run-is-repaired", rule: "ADR-0003",
		removes:  "only the last run of an export is repaired",
		edits:    []edit{holds(repairFile, "planner.stillOwner", "held.Doc.OwnerRunID != p.run.RunID", "false")},
		caughtBy: planning("TestRepairIsRefused/a later run exists"),
	},
	{
		name: "repair-without-a-fence", rule: "ADR-0003",
		removes:  "without a fence document nothing is repaired",
		edits:    []edit{reads(repairFile, "planner.stillOwner", "case held.Absent():", "case held.Absent() && !$on:")},
		caughtBy: planning("TestRepairIsRefused/the fence document is gone"),
	},
	{
		name: "overtaken-repair-goes-on", rule: "ADR-0003, V17",
		removes:  "a repair that was overtaken ends with what was published before",
		edits:    []edit{reads(repairFile, "planner.repair", "case err != nil && unfinished &&", "case !$on && err != nil && unfinished &&")},
		caughtBy: planning("TestSweepEndsARepairThatWasOvertaken"),
	},
	{
		name: "intact-run-is-read-again", rule: "ADR-0003",
		removes:  "what is not damaged is not read again",
		edits:    []edit{holds(repairFile, "planner.repair", "len(damaged) == 0 && !unfinished", "false")},
		caughtBy: planning("TestRepairOfAnIntactRun"),
	},
	{
		name: "repair-of-unpublished-is-intact", rule: "ADR-0003",
		removes:  "an intact run is told so only when it is published and settled",
		edits:    []edit{ahead(repairFile, "planner.republish", "settled, err := p.ender().Settle(", `if true { return wire.TriggerResult{RunID: p.run.RunID, Status: wire.Succeeded, Reason: "intact"}, nil }`)},
		caughtBy: planning("TestRepairOfAnIntactRun"),
	},
	{
		name: "repair-from-another-position", rule: "R0, ADR-0003",
		removes:  "a run is repaired only while the position is at an end of its window",
		edits:    []edit{ahead(repairFile, "atItsEnd", "want := sidecar.Position.From", "return nil")},
		caughtBy: planning("TestRepairFromAnotherPositionIsRefused/before it starts"),
	},
	{
		name: "repair-while-the-position-moves", rule: "R0, ADR-0003",
		removes:  "the position is looked at in the document that is replaced",
		edits:    []edit{reads(repairFile, "planner.repairClaimed", "return atItsEnd(doc, plan, sidecar)", "if $on { return nil }; return atItsEnd(doc, plan, sidecar)")},
		caughtBy: planning("TestRepairFromAnotherPositionIsRefused/after it has claimed the run"),
	},
	{
		name: "sleeping-repair-takes-a-generation", rule: "ADR-0006, V17",
		removes:  "a repair whose claim another one has taken over takes no generation",
		edits:    []edit{reads(repairFile, "planner.repairClaimed", "err := p.stillPlanned(ctx); err != nil", "err := p.stillPlanned(ctx); err != nil && !$on")},
		caughtBy: planning("TestRepairThatIsClaimedByAnotherTakesNoGeneration"),
	},
	{
		name: "repair-of-another-owner", rule: "ADR-0003",
		removes:  "only the owner of a fence takes a generation to repair",
		edits:    []edit{reads(repairCommitFile, "Fence.Repair", "case held.Absent() || held.Doc.OwnerRunID != me.RunID:", "case held.Absent() || held.Doc.OwnerRunID != me.RunID && !$on:")},
		caughtBy: committing("TestRepairByAnotherThanTheOwnerIsRefused"),
	},
	{
		name: "repair-asks-nobody", rule: "ADR-0003, R0",
		removes:  "whoever repairs may refuse the document that is there",
		edits:    []edit{reads(repairCommitFile, "Fence.Repair", "if err := check(held.Doc); err != nil {", "if err := check(held.Doc); err != nil && !$on {")},
		caughtBy: planning("TestRepairFromAnotherPositionIsRefused/after it has claimed the run"),
	},
	{
		name: "repair-keeps-the-generation", rule: "ADR-0003, V12",
		removes:  "a repair has a generation of its own",
		edits:    []edit{does(repairCommitFile, "Fence.Repair", "doc.Generation++", "")},
		caughtBy: committing("TestRepairKeepsTheFenceCommitted"),
	},
	{
		name: "repair-of-an-open-fence", rule: "ADR-0003, V10",
		removes:  "a run that has not come to its cursor is committed by its repair",
		edits:    []edit{holds(repairCommitFile, "Fence.Repair", "doc.State != contract.FenceCommitted", "false")},
		caughtBy: committing("TestRepairKeepsTheFenceCommitted"),
	},
	{
		name: "repair-by-another-life", rule: "ADR-0006",
		removes:  "a repaired run's fence names the life that took it",
		edits:    []edit{does(repairCommitFile, "Fence.Repair", "doc.OwnerPrefix, doc.OwnerCreation = me.Prefix, me.Creation", "")},
		caughtBy: committing("TestFenceNamesTheLifeThatTookIt/a repair"),
	},
	{
		name: "older-repair-replaces-a-newer-one", rule: "ADR-0003, V9",
		removes:  "of two repairs the newer one stays",
		edits:    []edit{holds(repairCommitFile, "Publication.replaceSidecar", "m.Generation > p.Generation", "false")},
		caughtBy: committing("TestReplaceSidecar/a newer generation"),
	},
	{
		name: "repairs-of-one-generation-differ", rule: "ADR-0003, V18",
		removes:  "two finalizers of one repair make the same bytes",
		edits:    []edit{holds(repairCommitFile, "Publication.replaceSidecar", "m.Generation == p.Generation && !bytes.Equal(body, p.Manifest)", "false")},
		caughtBy: committing("TestReplaceSidecar/other bytes of this generation"),
	},
	{
		name: "repair-replaces-another-run", rule: "ADR-0003",
		removes:  "a repair replaces a success of its own run",
		edits:    []edit{holds(repairCommitFile, "Publication.replaceSidecar", "m.RunID != p.Me.RunID || m.Status != contract.StatusSuccess", "false")},
		caughtBy: committing("TestReplaceSidecar/another run's"),
	},
	{
		name: "repair-makes-a-sidecar", rule: "ADR-0003, D15",
		removes:  "a repair commits nothing that had not committed",
		edits:    []edit{ahead(repairCommitFile, "Publication.replaceSidecar", "if body == nil {", `if body == nil { _, err := replace(ctx, prefix, name, version, p.Manifest); return p.Manifest, nil, err }`)},
		caughtBy: committing("TestReplaceSidecar/nothing"),
	},
	{
		name: "repair-swap-is-a-put", rule: "ADR-0003, M4",
		removes:  "a repair replaces the sidecar that it has read",
		edits:    []edit{ahead(repairCommitFile, "Publication.replaceSidecar", "if _, err := replace(ctx, prefix, name, version, p.Manifest)", "_, version, _ = read(ctx, prefix, name, contract.MaxManifestBytes)")},
		caughtBy: committing("TestRepairReplacesWhatItHasRead"),
	},
	{
		name: "repair-takes-rows-of-the-next-run", rule: "ADR-0003, V10",
		removes:  "a repair with rows that came later is refused",
		edits:    []edit{ahead(repairCommitFile, "Frozen.CheckRepair", "w := f.Window()", "return nil")},
		caughtBy: committing("TestRepairDeliversNoRowOfTheNextRun"),
	},
	{
		name: "damage-by-presence", rule: "M8, ADR-0003",
		removes:  "a part that differs is damaged",
		edits:    []edit{holds(repairCommitFile, "damageOf", "contract.Decide(&recorded, there) == contract.Skip", "there != nil")},
		caughtBy: committing("TestDamaged"),
	},
	{
		name: "quarantined-parts-are-damaged", rule: "M8, ADR-0003",
		removes:  "only committed parts can be damaged",
		edits:    []edit{holds(repairCommitFile, "Damaged", "p.Status == contract.PartCommitted", "true")},
		caughtBy: committing("TestDamaged"),
	},
	{
		name: "repaired-window-is-delivered-twice", rule: "ADR-0003, V10",
		removes:  "a repair leaves the position where it is",
		edits:    []edit{holds(publishFile, "Fence.committed", "window == nil || doc.State == contract.FenceCommitted", "window == nil")},
		caughtBy: committing("TestRepairLeavesThePosition"),
	},
	{
		name: "fence-keeps-the-old-manifest", rule: "ADR-0003",
		removes:  "the fence learns of the manifest of a repair",
		edits:    []edit{holds(publishFile, "Publication.commitCursor", "!p.Repair || held.Doc.CommittedBy.Names(manifest)", "true")},
		caughtBy: planning("TestRepairOfAPublishedRun"),
	},
	{
		name: "repair-is-settled-by-its-old-manifest", rule: "ADR-0003",
		removes:  "a run that is being repaired ends with the manifest of its repair",
		edits:    []edit{reads(finalizeFile, "finalizer.handle", "if run.Intent == wire.ActionRepair && !run.Status.Terminal() {", "if run.Intent == wire.ActionRepair && !run.Status.Terminal() && !$on {")},
		caughtBy: planning("TestRepairOfAPublishedRun"),
	},
	{
		name: "repair-is-a-first-commit", rule: "ADR-0003",
		removes:  "a repair replaces the manifest",
		edits:    []edit{reads(repairedFile, "finalizer.repair", "return f.freezeAndPublish(ctx, true)", "return f.freezeAndPublish(ctx, !$on)")},
		caughtBy: planning("TestRepairOfAPublishedRun"),
	},
	{
		name: "overtaken-repair-is-published", rule: "ADR-0003, V17",
		removes:  "a repair that another run has overtaken ends with what was published before",
		edits:    []edit{holds(repairedFile, "finalizer.repair", "!held.Absent() && doc.OwnerRunID != f.run.RunID", "false")},
		caughtBy: planning("TestSuccessorAtEveryCallOfARepair"),
	},
	{
		name: "planned-repair-is-finalized", rule: "ADR-0003, F1",
		removes:  "a repair that is still planned is left to its planner",
		edits:    []edit{holds(repairedFile, "finalizer.repair", "!held.Owns(f.run.RunID, f.run.Gen) || f.run.Status == runstate.RunPlanning", "false")},
		caughtBy: planning("TestFinalizerLeavesAPlannedRepairAlone"),
	},
}
