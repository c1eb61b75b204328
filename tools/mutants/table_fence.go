package main

const (
	fenceFile   = "shared/commit/fence.go"
	acquireFile = "shared/commit/acquire.go"
	sealFile    = "shared/commit/seal.go"

	generationFile = "shared/commit/generation.go"
)

// fenceMutants break the way to an open fence: TAKE, seal, roll forward, OPEN,
// RESUME and RELEASE (architecture §2.2).
var fenceMutants = []mutant{
	{
		name: "cursor-swap-is-a-put", rule: "D4, M10", core: true,
		removes:  "every change of the fence replaces the version that was read",
		edits:    []edit{ahead(fenceFile, "Fence.swap", "v, err := replace(", "_, prev.Version, _ = read(ctx, f.Root, contract.CursorKey(f.Export), maxControlBytes)")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, first run, a newer run starts and ends, planner and finalizer").saying(`is an older copy`),
	},
	{
		name: "take-ignores-own-sidecar", rule: "TAKE", core: true,
		removes:  "a run that is sealed or has committed never takes the fence",
		edits:    []edit{holds(acquireFile, "Acquisition.Acquire", "decided != nil", "false")},
		caughtBy: committing("TestDecidedRunLeavesTheFenceAlone"),
	},
	{
		name: "own-sidecar-looked-at-too-early", rule: "TAKE",
		removes: "the own sidecar is looked at after the document that is swapped",
		edits: []edit{
			ahead(acquireFile, "Acquisition.Acquire", "held, err := a.Fence.Read(ctx)", "if decided := a.checkOwnSidecar(ctx); decided != nil { return Opened{}, decided }"),
			holds(acquireFile, "Acquisition.Acquire", "decided != nil", "false"),
		},
		caughtBy: committing("TestPlannerSleepsWhileItsRunIsFollowed"),
	},
	{
		name: "open-ignores-own-sidecar", rule: "TAKE, T2", core: true,
		removes:  "a run that was sealed while it opened does not go on to its tasks",
		edits:    []edit{ahead(acquireFile, "Acquisition.opened", "var lost *FenceLostError", "err = nil")},
		caughtBy: committing("TestOvertakenPlannerLosesTheFence"),
	},
	{
		name: "no-seal", rule: "D15", core: true,
		removes:  "a successor decides whether its predecessor has committed",
		edits:    []edit{holds(acquireFile, "Acquisition.open", "pred != nil", "false")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, after a run that died open, a newer run starts and ends, finalizer of the run before").saying(`in 2 success manifests`),
	},
	{
		name: "seal-without-roll-forward", rule: "D15, V10", core: true,
		removes:  "a predecessor that has committed is published and its window skipped",
		edits:    []edit{holds(acquireFile, "Acquisition.open", "sidecar != nil", "false")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died publishing, a newer run starts and ends, planner and finalizer").saying(`in 2 success manifests`),
	},
	{
		name: "roll-forward-without-seal", rule: "D15", core: true,
		removes: "a predecessor that has not committed can never commit",
		edits: []edit{ahead(sealFile, "Acquisition.seal", "found, err := Seal(", `
			m, body, err := ReadSidecar(ctx, destination.Prefixed(a.Fence.Root, pred.Prefix), pred.RunID)
			if m == nil || m.Tombstone() { body = nil }
			return body, err`)},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, first run, a newer run starts and ends, planner and finalizer").saying(`in 2 success manifests`),
	},
	{
		name: "seal-before-fence", rule: "D15", core: true,
		removes: "the fence is taken before its predecessor is sealed",
		edits: []edit{
			ahead(acquireFile, "Acquisition.Acquire", "held, err := a.Fence.Read(ctx)", `
				if found, err := a.Fence.Read(ctx); err == nil && found.Doc.State == contract.FenceOpen && found.Doc.OwnerRunID != a.Me.RunID {
					pred := predecessorOf(found.Doc)
					if _, err := Seal(ctx, destination.Prefixed(a.Fence.Root, pred.Prefix), a.Tombstone(*pred), contract.SealedBy{RunID: a.Me.RunID, Generation: found.Doc.Generation + 1}); err != nil { return Opened{}, err }
				}`),
			ahead(sealFile, "Acquisition.seal", "found, err := Seal(", `
				m, body, err := ReadSidecar(ctx, destination.Prefixed(a.Fence.Root, pred.Prefix), pred.RunID)
				if m == nil || m.Tombstone() { body = nil }
				return body, err`),
		},
		caughtBy: committing("TestReleasedRunIsSealedByItsSuccessor"),
	},
	{
		name: "helper-admits-open", rule: "D15, helper fence", core: true,
		removes:  "a predecessor's pair is published only by an owner that is still opening",
		edits:    []edit{holds(sealFile, "Acquisition.rollForward", "now.Doc.State != contract.FenceOpening", "false")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, after a run that died committed, a duplicate starts and ends, planner and finalizer").saying(`the canonical manifest is of generation`),
	},
	{
		name: "helper-without-fence", rule: "D15, helper fence",
		removes:  "a predecessor's pair is published only by the owner of the fence",
		edits:    []edit{holds(sealFile, "Acquisition.rollForward", "!now.Owns(a.Me.RunID, held.Doc.Generation)", "false"), holds(sealFile, "Acquisition.rollForward", "now.Doc.State != contract.FenceOpening", "false")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died publishing, two newer runs start and end, planner and finalizer").saying(`the canonical manifest is of generation`),
	},
	{
		name: "helper-captures-after-the-fence", rule: "D3", core: true,
		removes:  "the pair of a predecessor is captured before the fence is read",
		edits:    []edit{ahead(sealFile, "Acquisition.rollForward", "err = pair.publish(", "if pair, err = capturePair(ctx, prefix, a.Fence.Export); err != nil { return err }")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, after a run that died publishing, a newer run starts and ends, planner and finalizer").saying(`the canonical manifest is of generation`),
	},
	{
		name: "helper-without-parts", rule: "M1, M2",
		removes:  "a committed predecessor is rolled forward only if all of its parts are there",
		edits:    []edit{reads(sealFile, "Acquisition.rollForward", "err := a.CheckParts(ctx, prefix, m); err != nil", "err := a.CheckParts(ctx, prefix, m); err != nil && !$on")},
		caughtBy: simulated("TestPredecessorWithoutItsPartIsNotRolledForward"),
	},
	{
		name: "predecessor-not-inherited", rule: "TAKE",
		removes:  "who takes over from an owner that never opened seals that owner's predecessor",
		edits:    []edit{reads(acquireFile, "predecessorOf", "return doc.Predecessor", "if $on { return nil }; return doc.Predecessor")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, after a run that died publishing, a newer run starts and ends, planner and finalizer").saying(`in 2 success manifests`),
	},
	{
		name: "released-run-not-sealed", rule: "TAKE",
		removes:  "a run that gave its fence back is sealed by who takes it",
		edits:    []edit{ahead(acquireFile, "predecessorOf", "switch doc.State {", "if doc.State == contract.FenceReleased { return nil }")},
		caughtBy: committing("TestReleasedRunIsSealedByItsSuccessor"),
	},
	{
		name: "predecessor-may-be-myself", rule: "TAKE",
		removes:  "a run that is about to be sealed does not take the fence",
		edits:    []edit{holds(acquireFile, "Acquisition.take", "p.RunID == a.Me.RunID", "false")},
		caughtBy: committing("TestSealedRunDoesNotTakeTheFence"),
	},
	{
		name: "take-keeps-the-generation", rule: "D3, V12",
		removes:  "every owner has a generation of its own",
		edits:    []edit{ahead(acquireFile, "Acquisition.take", "taken, err := a.Fence.swap(", "next.Generation = max(held.Doc.Generation, 1)")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, first run, a newer run starts and ends, planner and finalizer"),
	},
	{
		name: "take-asks-nobody", rule: "§2.6 overlap",
		removes:  "a run that is live is not taken over",
		edits:    []edit{reads(acquireFile, "Acquisition.take", "err := a.MayTake(ctx, held.Doc); err != nil", "err := a.MayTake(ctx, held.Doc); err != nil && !$on")},
		caughtBy: simulated("TestOverlappingRuns"),
	},
	{
		name: "resume-keeps-the-generation", rule: "RESUME", core: true,
		removes:  "a resume takes a new generation by a swap of the fence",
		edits:    []edit{does(fenceFile, "Fence.Resume", "doc.Generation++", "")},
		caughtBy: committing("TestStaleFinalizerAfterResume"),
	},
	{
		name: "resume-of-an-unopened-fence", rule: "RESUME",
		removes:  "a fence that was taken and never opened is not resumed",
		edits:    []edit{holds(fenceFile, "Fence.Resume", "held.Doc.State == contract.FenceOpening", "false")},
		caughtBy: committing("TestUnopenedFenceIsNotResumed"),
	},
	{
		name: "resume-of-a-lost-fence", rule: "RESUME",
		removes:  "only the owner of the fence is resumed",
		edits:    []edit{holds(fenceFile, "Fence.Resume", "held.Doc.OwnerRunID != me.RunID", "false")},
		caughtBy: committing("TestFenceOfAnotherIsLeftAlone/a resume of another run's fence"),
	},
	{
		name: "resume-of-a-committed-fence", rule: "RESUME",
		removes:  "a run that has committed is not resumed",
		edits:    []edit{holds(fenceFile, "Fence.Resume", "held.Doc.State == contract.FenceCommitted", "false")},
		caughtBy: committing("TestFenceOfAnotherIsLeftAlone/a resume of a fence that is committed"),
	},
	{
		name: "release-of-any-state", rule: "RELEASE",
		removes:  "a fence that is opening or committed is not given back",
		edits:    []edit{holds(fenceFile, "Fence.Release", "held.Doc.State != contract.FenceOpen", "false")},
		caughtBy: committing("TestFenceOfAnotherIsLeftAlone/a release of a fence that is committed"),
	},
	{
		name: "release-of-another-run", rule: "RELEASE",
		removes:  "a run gives back only a fence that it holds at its generation",
		edits:    []edit{holds(fenceFile, "Fence.Release", "!held.Owns(me, g)", "false")},
		caughtBy: committing("TestFenceOfAnotherIsLeftAlone/a release of another run's fence"),
	},
	{
		name: "position-not-rolled-over", rule: "OPEN, V10",
		removes:  "the window of a committed predecessor is skipped",
		edits:    []edit{does(acquireFile, "Acquisition.open", "advanceOver(&next, *pred, sidecar)", "")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died committed, a newer run starts and ends, planner and finalizer").saying(`in 2 success manifests`),
	},
	{
		name: "position-rolled-over-a-gap", rule: "OPEN, V9",
		removes:  "only a window that starts at the position is skipped",
		edits:    []edit{holds(sealFile, "advanceOver", "!doc.Position.Equal(w.From)", "false")},
		caughtBy: committing("TestPositionMovesOverAWindowThatStartsAtIt"),
	},
	{
		name: "unreadable-cursor-is-absent", rule: "ADR-0012",
		removes:  "a fence document that cannot be read is refused",
		edits:    []edit{ahead(fenceFile, "Fence.Read", "if doc.Export != f.Export {", "doc.Export = f.Export"), reads(fenceFile, "Fence.Read", "doc, err := contract.DecodeCursor(body) if err != nil {", "doc, err := contract.DecodeCursor(body); if err != nil { if $on { return Held{}, nil }")},
		caughtBy: committing("TestRefusals"),
	},
	{
		name: "history-without-cursor", rule: "M10",
		removes:  "an export that has run here does not begin again without its document",
		edits:    []edit{holds(acquireFile, "Acquisition.checkDocument", "lost == nil", "true")},
		caughtBy: committing("TestRefusals"),
	},
	{
		name: "history-looked-at-once", rule: "ADR-0001",
		removes:  "a document that appears meanwhile makes a first run start over",
		edits:    []edit{holds(acquireFile, "Acquisition.checkDocument", "err != nil || held.Absent()", "true")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, first run, a newer run starts and ends, planner and finalizer"),
	},
	{
		name: "another-database", rule: "D16",
		removes:  "a cursor or plan of one database is not continued on another",
		edits:    []edit{holds(acquireFile, "CheckSource", "made == now", "true")},
		caughtBy: committing("TestAnotherDatabaseIsRefused"),
	},
	{
		name: "another-cursor-column", rule: "OPEN",
		removes:  "a stored position of another column is refused",
		edits:    []edit{holds(acquireFile, "Acquisition.checkPosition", "!p.SameCursor(*q)", "false")},
		caughtBy: committing("TestCursorOfAnotherShapeIsRefused/another column"),
	},
	{
		name: "duplicate-lost-to-a-newer-run", rule: "OPEN",
		removes:  "a planner whose OPEN lost to another run stops",
		edits:    []edit{holds(acquireFile, "Acquisition.afterDuplicate", "held.Doc.OwnerRunID != a.Me.RunID", "false")},
		caughtBy: committing("TestOvertakenPlannerLosesTheFence"),
	},
	{
		name: "an-older-document-is-believed", rule: "V10, ADR-0008",
		removes:  "a document below a generation that has left its trace is refused",
		edits:    []edit{holds(generationFile, "Fence.looksNewest", "g > own", "false")},
		caughtBy: simulated("TestOlderCursorIsPutBack/incremental, out/{run_id}/, the newest is put back"),
	},
	{
		name: "an-older-copy-is-followed", rule: "V10, V12, ADR-0008",
		removes: "nothing but the document tells which generation is the newest",
		edits: []edit{
			holds(generationFile, "Fence.looksNewest", "g > own", "false"),
			holds(generationFile, "Fence.looksNewest", "f.Seen > own", "false"),
			holds(generationFile, "Fence.leaveTrace", "!theirs", "true"),
		},
		caughtBy: scheduled(100),
	},
	{
		name: "a-document-below-the-manifest", rule: "V8, ADR-0008",
		removes:  "a document below the generation of the prefix's manifest is refused",
		edits:    []edit{holds(generationFile, "Fence.looksNewest", "f.Seen > own", "false")},
		caughtBy: committing("TestOldDocumentIsRefused/the manifest of the prefix alone, take"),
	},
	{
		name: "a-document-that-hides-its-owner", rule: "V10, ADR-0008",
		removes:  "a document that is opening though its owner has planned is refused",
		edits:    []edit{holds(generationFile, "Fence.refuseOpened", "plan.FirstGeneration >= doc.Generation", "false")},
		caughtBy: committing("TestOldDocumentIsRefused/the plan of a run that is said to be opening, take"),
	},
	{
		name: "a-rival-makes-a-document-old", rule: "ADR-0008",
		removes:  "a document that has changed since it was read is read again, not refused",
		edits:    []edit{holds(generationFile, "Fence.old", "now.Version != held.Version", "false")},
		caughtBy: committing("TestRivalIsNoReasonToRefuse"),
	},
	{
		name: "no-trace-is-made-up-for", rule: "ADR-0008",
		removes:  "every generation but the newest has left its trace",
		edits:    []edit{ahead(generationFile, "Fence.follow", "return f.leaveTrace(", "return nil")},
		caughtBy: committing("TestEveryGenerationButTheNewestHasLeftItsTrace"),
	},
	{
		name: "another-owners-trace-is-mine", rule: "ADR-0008",
		removes:  "a copy that comes between the look and the swap is noticed by its generation's trace",
		edits:    []edit{holds(generationFile, "Fence.leaveTrace", "!theirs", "true")},
		caughtBy: committing("TestOlderCopyUnderASleeper"),
	},
	{
		name: "a-generation-of-another-run-is-believed", rule: "V12, ADR-0008",
		removes:  "a document whose generation has the trace of another run is refused",
		edits:    []edit{holds(generationFile, "Fence.looksNewest", "err == nil && g == held.Doc.Generation", "false")},
		caughtBy: committing("TestOlderCopyUnderASleeper/in front of RESUME"),
	},
	{
		name: "anew-under-the-trace-of-another-run", rule: "ADR-0008",
		removes:  "a document that is made anew leaves a generation to the run whose trace it has",
		edits:    []edit{reads("shared/commit/reanchor.go", "Acquisition.reanchor", "theirs := true; theirs;", "theirs := true; theirs && !($on && doc.Generation > left.generation+1);")},
		caughtBy: committing("TestSleeperOfALostDocumentLeavesItsTraceLate"),
	},
	{
		name: "finalized-under-a-document-that-is-opening", rule: "ADR-0008",
		removes:  "a run that has tasks is told of the older copy that says it is opening",
		edits:    []edit{holds("shared/commit/publish.go", "Publication.readFence", "doc.Generation == p.Generation && doc.State == contract.FenceOpening", "false")},
		caughtBy: committing("TestOldDocumentPublishesNothing/the finalizer of a run that it says is opening"),
	},
	{
		name: "published-under-an-older-document", rule: "V8, ADR-0008",
		removes:  "no pair of a generation above the document's is published over",
		edits:    []edit{holds(generationFile, "Fence.refuseBelow", "m.Generation <= doc.Generation", "true")},
		caughtBy: committing("TestOldDocumentPublishesNothing/the finalizer of a run that it names"),
	},
	{
		name: "repair-believes-an-older-document", rule: "V8, ADR-0008",
		removes:  "a run that only an older document calls the last one is not repaired",
		edits:    []edit{holds(generationFile, "Fence.ReadNewest", "!held.Absent()", "false")},
		caughtBy: simulated("TestOlderCursorIsPutBack/full, out/, the newest is put back"),
	},
	{
		name: "reanchor-ignores-traces", rule: "ADR-0004, ADR-0008",
		removes:  "a document that is made anew is above every generation that has left a trace",
		edits:    []edit{does("shared/commit/reanchor.go", "Acquisition.traces", "t.saw(contract.TracedGeneration(name))", "")},
		caughtBy: committing("TestTracesOfALostDocument/a generation of which nothing else is left"),
	},
}
