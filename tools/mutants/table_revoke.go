package main

const revokeFile = "shared/commit/revoke.go"

// revokeMutants break the revocation of older generations before anything is
// moved (ADR-0007).
var revokeMutants = []mutant{
	{
		name: "no-revocation", rule: "ADR-0007, V16",
		removes:  "a resume revokes the older generations of its run before it moves anything",
		edits:    []edit{ahead(reviveFile, "planner.revokeGenerations", "first := plan.FirstGeneration", "return nil, nil")},
		caughtBy: planning("TestResumeMovesNothingThatAnOlderGenerationCommits"),
	},
	{
		name: "revocation-after-the-list", rule: "ADR-0007, V16",
		removes: "a resume revokes before it looks at what is to be moved",
		edits: []edit{
			reads(reviveFile, "planner.compare", "promised, err := p.revokeGenerations(ctx, plan)", "promised, err := map[string]bool(nil), error(nil); if !$on { promised, err = p.revokeGenerations(ctx, plan) }"),
			ahead(reviveFile, "planner.compare", "if err := p.mayMove(ctx); err != nil {", "if _, err := p.revokeGenerations(ctx, plan); err != nil { return err }"),
		},
		caughtBy: planning("TestResumeMovesNothingThatAnOlderGenerationCommits"),
	},
	{
		name: "first-generation-not-revoked", rule: "ADR-0007, V16",
		removes:  "every older generation is revoked, the first one too",
		edits:    []edit{reads(revokeFile, "Fence.revoke", "h := max(first, 1)", "h := max(first, 1) + map[bool]contract.Generation{true: 1}[$on]")},
		caughtBy: committing("TestRecordDecidesWhetherAGenerationCommits/revoked"),
	},
	{
		name: "record-claims-nothing", rule: "ADR-0007, V16",
		removes:  "the parts of a generation that may commit are claimed by its record",
		edits:    []edit{does(revokeFile, "Fence.revoke", "claimed[name] = true", "_ = name")},
		caughtBy: committing("TestRecordDecidesWhetherAGenerationCommits/recorded"),
	},
	{
		name: "one-record-is-enough", rule: "ADR-0007, V16",
		removes:  "a generation that may commit does not keep the others from being revoked",
		edits:    []edit{ahead(revokeFile, "Fence.revoke", "for _, task := range record.Tasks {", "for _, task := range record.Tasks { for _, name := range task.Parts { claimed[name] = true } }; return claimed, nil")},
		caughtBy: committing("TestRecordDecidesWhetherAGenerationCommits/every generation before"),
	},
	{
		name: "record-of-another-run-decides", rule: "ADR-0007",
		removes:  "the record of another run says nothing of this one",
		edits:    []edit{holds(revokeFile, "Fence.revoke", "record.RunID != run", "false")},
		caughtBy: committing("TestRecordThatSaysNothing/of another run"),
	},
	{
		name: "damaged-record-lists-nothing", rule: "ADR-0007, V16",
		removes:  "nothing is moved while a record cannot be read",
		edits:    []edit{ahead(revokeFile, "decodeStanding", "if err := json.Unmarshal(", "if !json.Valid(body) { return record, nil }")},
		caughtBy: committing("TestRecordThatSaysNothing/damaged"),
	},
	{
		name: "claimed-parts-are-moved", rule: "ADR-0007, V16",
		removes:  "what a generation that may commit lists stays where it is",
		edits:    []edit{holds(quarantineFile, "Inspect", "listed.parts[o.Key] || promised[o.Key]", "listed.parts[o.Key]")},
		caughtBy: planning("TestResumeMovesNothingThatAnOlderGenerationCommits"),
	},
	{
		name: "claimed-parts-that-differ-are-moved", rule: "ADR-0007, V16",
		removes:  "what is claimed stays where it is, though the table records something else",
		edits:    []edit{holds(quarantineFile, "Inspect", "!promised[o.Key]", "true")},
		caughtBy: committing("TestInspect").saying("what a generation may commit"),
	},
	{
		name: "revoked-generation-commits", rule: "ADR-0007, F6b, V16",
		removes: "a finalizer whose generation is revoked does not commit",
		edits: []edit{reads(publishFile, "Publication.commitPoint", "_, found, err := create(ctx, p.Fence.Root, p.RecordKey, p.Record, metaOf(p.Record))", `
			_, found, err := create(ctx, p.Fence.Root, p.RecordKey, p.Record, metaOf(p.Record))
			if r, decodeErr := decodeStanding(p.RecordKey, found); $on && found != nil && decodeErr == nil && r.RevokedBy != 0 { found = nil }`)},
		caughtBy: planning("TestResumeMovesNothingThatAnOlderGenerationCommits"),
	},
	{
		name: "revoked-generation-is-a-fault", rule: "ADR-0007, F6b",
		removes:  "a finalizer whose generation is revoked ends as stale",
		edits:    []edit{holds(publishFile, "Publication.commitPoint", "record.RevokedBy != 0", "false")},
		caughtBy: committing("TestRecordDecidesWhetherAGenerationCommits/revoked"),
	},
	{
		name: "repair-revokes-what-it-repairs", rule: "ADR-0007, ADR-0003",
		removes:  "in a repair the generation that has committed is over",
		edits:    []edit{does(reviveFile, "planner.revokeGenerations", "first = sidecar.Generation + 1", "_ = sidecar")},
		caughtBy: planning("TestRepairOfAPublishedRun/truncated"),
	},
	{
		name: "repairs-of-the-run-before-not-revoked", rule: "ADR-0007, V16",
		removes:  "a resume spares what a repair of the run before it may publish",
		edits:    []edit{ahead(revokeFile, "Fence.SpareRepairs", "for i, last := range found.committed {", "return nil")},
		caughtBy: planning("TestResumeMovesNothingThatARepairOfTheRunBeforeCommits"),
	},
	{
		name: "parts-of-a-repair-are-moved", rule: "ADR-0007, V16",
		removes:  "the parts of a repair that may commit stay where they are",
		edits:    []edit{does(revokeFile, "Fence.SpareRepairs", "found.Moves = slices.DeleteFunc(found.Moves, func(m Move) bool { return claimed[m.From] })", "_ = claimed")},
		caughtBy: planning("TestResumeMovesNothingThatARepairOfTheRunBeforeCommits"),
	},
}
