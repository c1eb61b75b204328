package main

const (
	publishFile    = "shared/commit/publish.go"
	pairFile       = "shared/commit/pair.go"
	writeFile      = "shared/commit/write.go"
	quarantineFile = "shared/commit/quarantine.go"
	partFile       = "shared/commit/part.go"
	planFile       = "shared/commit/plan.go"
)

// publishMutants break F5 to F10: capture, fence, commit point, manifest, marker,
// cursor (architecture §2.6), and the way of a single write.
var publishMutants = []mutant{
	{
		name: "fence-not-read", rule: "F6, M10", core: true,
		removes:  "a finalizer reads the fence before it commits",
		edits:    []edit{ahead(publishFile, "Publication.readFence", "doc := held.Doc", "return held, nil, nil")},
		caughtBy: simulated("TestM10OverlappingRunsOfOneExport/the generation of the first is invalidated").saying(`and 2 stood before`),
	},
	{
		name: "fence-of-another-run", rule: "F6", core: true,
		removes:  "a finalizer whose run has lost the fence publishes nothing",
		edits:    []edit{ahead(publishFile, "Publication.readFence", "ending, err := p.superseded(", "return held, nil, nil")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, first run, two newer runs start and end, planner and finalizer").saying(`the canonical manifest is of generation`),
	},
	{
		name: "fence-of-another-generation", rule: "F6",
		removes:  "a finalizer of an older generation of its run writes nothing",
		edits:    []edit{ahead(publishFile, "Publication.readFence", "switch { case doc.Generation > p.Generation:", "return held, nil, nil")},
		caughtBy: committing("TestStaleFinalizerAfterResume"),
	},
	{
		name: "capture-after-the-fence", rule: "D3", core: true,
		removes:  "manifest and marker are captured before the fence is read",
		edits:    []edit{ahead(publishFile, "Publication.Publish", "err = pair.publish(", "if pair, err = capturePair(ctx, prefix, p.Fence.Export); err != nil { return out, err }")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died publishing, a newer run starts and ends, finalizer of the run before").saying(`the canonical manifest is of generation`),
	},
	{
		name: "manifest-swap-is-a-put", rule: "M4, D3", core: true,
		removes:  "the manifest replaces the version that was captured",
		edits:    []edit{ahead(pairFile, "pair.publish", "if err := p.manifest.become(", "p.manifest, _ = capture(ctx, prefix, contract.ManifestName)")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, first run, a newer run starts and ends, planner and finalizer").saying(`the canonical manifest is of generation`),
	},
	{
		name: "marker-swap-is-a-put", rule: "M4, D3", core: true,
		removes:  "_SUCCESS replaces the version that was captured",
		edits:    []edit{ahead(pairFile, "pair.publish", "return p.success.become(", "p.success, _ = capture(ctx, prefix, contract.SuccessName)")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, first run, a newer run starts and ends, planner and finalizer").saying(`changed the pair`),
	},
	{
		name: "marker-before-manifest", rule: "M2, V7", core: true,
		removes:  "_SUCCESS is written after its manifest",
		edits:    []edit{ahead(pairFile, "pair.publish", "if err := p.manifest.become(", "if err := p.success.become(ctx, prefix, contract.SuccessName, contract.SuccessBody(manifest)); err != nil { return err }; p.success.body = contract.SuccessBody(manifest)")},
		caughtBy: committing("TestCrashAtEveryCall/unique versions, first run, landed true, then the same run").saying(`a marker stands without a manifest`),
	},
	{
		name: "cursor-before-manifest", rule: "I3, V10", core: true,
		removes:  "the cursor is committed after the manifest",
		edits:    []edit{ahead(publishFile, "Publication.Publish", "if p.Manifest != nil {", "if _, err := p.commitCursor(ctx, held, p.Manifest); err != nil { return out, err }; if held, err = p.Fence.Read(ctx); err != nil { return out, err }")},
		caughtBy: committing("TestCrashAtEveryCall/unique versions, first run, landed true, then the same run").saying(`lies behind the cursor`),
	},
	{
		name: "cursor-before-marker", rule: "I3, M2",
		removes:  "the cursor is committed after manifest and marker",
		edits:    []edit{ahead(publishFile, "Publication.Publish", "err = pair.publish(", "if _, err := p.commitCursor(ctx, held, manifest); err != nil { return out, err }; if held, err = p.Fence.Read(ctx); err != nil { return out, err }")},
		caughtBy: committing("TestCrashAtEveryCall/unique versions, first run, landed true, then the same run").saying(`there is no canonical manifest`),
	},
	{
		name: "sidecar-is-a-plain-put", rule: "F7, D15", core: true,
		removes: "a run commits only by creating its sidecar",
		edits: []edit{ahead(publishFile, "Publication.commitPoint", "_, found, err := create(ctx, prefix, name,", `
			_, v, err := read(ctx, prefix, name, contract.MaxManifestBytes)
			if err == nil { _, err = replace(ctx, prefix, name, v, p.Manifest) }
			return p.Manifest, nil, err`)},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, first run, a newer run starts, planner and finalizer").saying(`in 2 success manifests`),
	},
	{
		name: "tombstone-is-a-plain-put", rule: "D15, V5",
		removes: "a successor seals only by creating the sidecar",
		edits: []edit{ahead(sealFile, "Seal", "_, found, err := create(", `
			name := contract.SidecarName(tombstone.RunID)
			_, v, err := read(ctx, prefix, name, contract.MaxManifestBytes)
			if err == nil { _, err = replace(ctx, prefix, name, v, body) }
			return nil, err`)},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died publishing, two newer runs start and end, planner and finalizer"),
	},
	{
		name: "tombstone-is-a-success", rule: "F7",
		removes:  "a run that finds its tombstone at the commit point publishes nothing",
		edits:    []edit{holds(publishFile, "Publication.commitPoint", "m.Status != contract.StatusSuccess", "false")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, after a run that died publishing, a newer run starts, planner and finalizer").saying(`is "interrupted"`),
	},
	{
		name: "own-bytes-over-committed-ones", rule: "F7, V18",
		removes:  "what another generation of the run has committed is published as it stands",
		edits:    []edit{ahead(publishFile, "Publication.commitPoint", "return found, nil, nil", "return p.Manifest, nil, nil")},
		caughtBy: committing("TestStaleFinalizerAfterResume"),
	},
	{
		name: "different-bytes-are-adopted", rule: "V18, D10",
		removes:  "two different manifests of one generation are refused",
		edits:    []edit{holds(publishFile, "Publication.commitPoint", "m.Generation == p.Generation", "false")},
		caughtBy: committing("TestDifferentBytesOfOneGenerationAreRefused"),
	},
	{
		name: "no-run-record", rule: "F6b",
		removes:  "the run record stands before the manifest that names it",
		edits:    []edit{holds(publishFile, "Publication.commitPoint", "p.Record != nil", "false")},
		caughtBy: committing("TestRecordStandsBeforeTheSidecar"),
	},
	{
		name: "window-not-at-the-cursor", rule: "V9",
		removes:  "a cursor is moved only over a window that starts at it",
		edits:    []edit{holds(publishFile, "Fence.committed", "!doc.Position.Equal(window.From)", "false")},
		caughtBy: committing("TestCursorMovesOnlyOverItsOwnWindow"),
	},
	{
		name: "lost-cursor-is-success", rule: "F10",
		removes:  "a cursor that somebody else has moved is looked at again",
		edits:    []edit{ahead(publishFile, "Publication.commitCursor", "return now.Owns(", "return true, nil")},
		caughtBy: committing("TestStaleFinalizerAfterResume"),
	},
	{
		name: "superseded-without-a-tombstone", rule: "F6",
		removes:  "a run that finds itself superseded makes sure that it can never commit",
		edits:    []edit{ahead(publishFile, "Publication.superseded", "committed, err := Seal(", "return &Published{Ending: Superseded, SealedBy: &by}, nil")},
		caughtBy: committing("TestSupersededRunCanNeverCommit"),
	},
	{
		name: "prefix-of-another-export", rule: "P3, F5",
		removes:  "a prefix that holds another export's manifest is refused",
		edits:    []edit{holds(pairFile, "refuseForeign", "m.ExportName != export", "false")},
		caughtBy: committing("TestRefusals"),
	},
	{
		name: "create-without-read-back", rule: "§2.1", core: true,
		removes:  "a create whose answer was lost finds its own object",
		edits:    []edit{holds(writeFile, "create", "bytes.Equal(there, body)", "false")},
		caughtBy: committing("TestLostAnswers"),
	},
	{
		name: "create-exists-is-success", rule: "§2.1",
		removes:  "a create that finds another object says so",
		edits:    []edit{holds(writeFile, "create", "bytes.Equal(there, body)", "true")},
		caughtBy: committing("TestZombieAtEveryCall/content-derived versions, after a run that died committed, a newer run starts and ends, planner and finalizer"),
	},
	{
		name: "replace-without-read-back", rule: "§2.1", core: true,
		removes:  "a swap whose answer was lost finds its own object",
		edits:    []edit{holds(writeFile, "replace", "bytes.Equal(there, body)", "false")},
		caughtBy: committing("TestResumeWithLostAnswers"),
	},
	{
		name: "replace-moved-is-success", rule: "§2.1",
		removes:  "a swap that somebody else has won is lost",
		edits:    []edit{holds(writeFile, "replace", "bytes.Equal(there, body)", "true")},
		caughtBy: committing("TestZombieAtEveryCall/unique versions, first run, a newer run starts and ends, planner and finalizer"),
	},
	{
		name: "undecided-is-not-repeated", rule: "§2.1",
		removes:  "a swap that never arrived is sent again",
		edits:    []edit{holds(writeFile, "replace", "try == undecidedTries", "true")},
		caughtBy: committing("TestLostAnswers"),
	},
}
