package main

// partMutants break parts and what becomes of them: create-only, adoption, names,
// the first plan, quarantine (architecture §2.5, M8, M9).
var partMutants = []mutant{
	{
		name: "part-is-a-plain-put", rule: "D6, V5", core: true,
		removes: "a part never overwrites an object",
		edits: []edit{ahead(partFile, "storePart", "_, err := prefix.Create(", `
			at := destination.Absent
			if o, err := prefix.Head(ctx, name); err == nil { at = o.Version }
			_, err := prefix.Replace(ctx, name, at, part.Body, meta)
			return err == nil, err`)},
		caughtBy: committing("TestPutPart"),
	},
	{
		name: "part-swaps-by-content", rule: "D6, V5", core: true,
		removes: "a part whose name is taken leaves the object there alone",
		edits: []edit{ahead(partFile, "storePart", "there, headErr := prefix.Head(", `
			if o, err := prefix.Head(ctx, name); err == nil {
				_, err = prefix.Replace(ctx, name, o.Version, part.Body, meta)
				return err == nil, err
			}`)},
		caughtBy: committing("TestPutPart"),
	},
	{
		name: "part-exists-is-success", rule: "M3, V4", core: true,
		removes:  "a part whose name is taken is looked at before it is recorded",
		edits:    []edit{holds(partFile, "storePart", "samePart(there, part, meta)", "true")},
		caughtBy: committing("TestPutPart"),
	},
	{
		name: "part-of-any-generation-is-adopted", rule: "§2.5", core: true,
		removes:  "a part of another generation is never adopted",
		edits:    []edit{reads(partFile, "samePart", "[]string{MetaRun, MetaGeneration}", "map[bool][]string{true: {MetaRun}, false: {MetaRun, MetaGeneration}}[$on]")},
		caughtBy: committing("TestPutPartAdoptsItsOwnOnly/another generation"),
	},
	{
		name: "part-of-any-run-is-adopted", rule: "§2.5",
		removes:  "a part of another run is never adopted",
		edits:    []edit{holds(partFile, "samePart", "kept && v != meta.User[key]", "key != MetaRun && kept && v != meta.User[key]")},
		caughtBy: committing("TestPutPartDoesNotAdoptAnotherRunsObject"),
	},
	{
		name: "part-of-any-content-is-adopted", rule: "M3",
		removes:  "an object of the same size and other content is not adopted",
		edits:    []edit{holds(partFile, "samePart", "there.Fingerprint == part.Fingerprint", "true"), holds(partFile, "samePart", "there.MD5 == part.MD5", "true")},
		caughtBy: committing("TestPutPart"),
	},
	{
		name: "part-unproved-is-adopted", rule: "M3",
		removes:  "an object that nobody vouches for is not adopted",
		edits:    []edit{holds(partFile, "samePart", "there.User[MetaFingerprint] == meta.User[MetaFingerprint]", "true")},
		caughtBy: committing("TestPutPartAdoptsNothingUnproved"),
	},
	{
		name: "part-of-any-size-is-adopted", rule: "M3",
		removes:  "an object of another size is not adopted",
		edits:    []edit{holds(partFile, "samePart", "there.Size != int64(len(part.Body))", "false")},
		caughtBy: committing("TestPutPartAdoptsItsOwnOnly/a part cut short, whose metadata says what it was to be"),
	},
	{
		name: "part-name-without-generation", rule: "§2.5", core: true,
		removes:  "two generations never share a part's name",
		edits:    []edit{holds("shared/chunkplan/plan.go", "Plan.Naming", "g == p.FirstGeneration && (p.RunScoped || g == 1)", "true")},
		caughtBy: simulated("TestRules"),
	},
	{
		name: "second-plan-wins", rule: "P7, V5",
		removes:  "a run has one plan, the first",
		edits:    []edit{ahead(planFile, "StorePlan", "if found == nil {", "found = nil")},
		caughtBy: committing("TestFirstPlanStands"),
	},
	{
		name: "plan-is-made-again", rule: "P7",
		removes:  "a planner that is started again reads the plan that is there",
		edits:    []edit{reads("functions/planner/prepare.go", "planner.planAndEnqueue", "if errors.Is(err, destination.ErrNotFound) {", "if $on || errors.Is(err, destination.ErrNotFound) {"), ahead(planFile, "StorePlan", "if found == nil {", "found = nil")},
		caughtBy: simulated("TestTriggerAgainAfterTheTableWasLost"),
	},
	{
		name: "quarantine-of-nested-prefixes", rule: "M9", core: true,
		removes:  "only direct children of the prefix are looked at",
		edits:    []edit{holds(quarantineFile, "Inspect", `!strings.Contains(o.Key, "/")`, "true")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "quarantine-of-listed-parts", rule: "M8, V16",
		removes:  "what a manifest lists stays where it is",
		edits:    []edit{holds(quarantineFile, "Inspect", "listed.parts[o.Key]", "false")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "quarantine-of-control-objects", rule: "M8",
		removes:  "control objects stay where they are",
		edits:    []edit{holds(quarantineFile, "Inspect", "isControl(o.Key)", "false")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "quarantine-of-living-attempts", rule: "R5, V16",
		removes:  "parts of the resumed generation stay where they are",
		edits:    []edit{holds(quarantineFile, "Inspect", "generationOf(o, plain) >= g", "false")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "damaged-part-stays-in-the-way", rule: "M8",
		removes:  "a recorded part that differs is moved out of the way",
		edits:    []edit{ahead(quarantineFile, "Inspect", "if !promised[o.Key] {", "continue")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "missing-part-is-kept", rule: "M8",
		removes:  "a recorded part that is missing is made again",
		edits:    []edit{holds(quarantineFile, "Inspect", "!seen[p.Path]", "false")},
		caughtBy: committing("TestInspect"),
	},
	{
		name: "decide-ignores-sizes", rule: "M8, M3",
		removes:  "a part of another size than recorded differs",
		edits:    []edit{holds("shared/contract/decide.go", "Decide", "recorded.SizeBytes != found.SizeBytes", "false")},
		caughtBy: deciding("TestDecide"),
	},
	{
		name: "decide-ignores-content", rule: "M8, M3",
		removes:  "a part of other content than recorded differs",
		edits:    []edit{holds("shared/contract/decide.go", "differ", "a != b", "false")},
		caughtBy: committing("TestInspect"),
	},
}
