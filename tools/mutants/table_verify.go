package main

const (
	verifyFile      = "shared/verify/verify.go"
	verifyPairFile  = "shared/verify/pair.go"
	checkFile       = "shared/verify/check.go"
	contentFile     = "shared/verify/content.go"
	listingFile     = "shared/verify/listing.go"
	partsFile       = "shared/verify/parts.go"
	rowsFile        = "shared/verify/rows.go"
	verdictFile     = "shared/verify/verdict.go"
	verdictKindFile = "shared/contract/verdict.go"
	checkedFile     = "shared/contract/manifest_check.go"
)

// verifyMutants break M5: what is compared with a manifest, and what it weighs.
var verifyMutants = []mutant{
	{
		name: "missing-part-passes", rule: "M5",
		removes:  "a part that is not there is found",
		edits:    []edit{ahead(partsFile, "compare", "var f contract.Failure", "if o == nil { return nil, false }")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a part is gone"),
	},
	{
		name: "size-not-compared", rule: "M5",
		removes:  "a part of another size is found",
		edits:    []edit{holds(partsFile, "compare", "o.Size != p.SizeBytes", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a part is cut"),
	},
	{
		name: "fingerprint-not-compared", rule: "M5",
		removes:  "a part of another fingerprint is found",
		edits:    []edit{holds(partsFile, "compare", "differ(string(p.ContentFingerprint), string(o.Fingerprint))", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a byte has flipped and the store knows xxh3"),
	},
	{
		name: "md5-not-compared", rule: "M5",
		removes:  "a part of another MD5 is found",
		edits:    []edit{holds(partsFile, "compare", "differ(p.ContentMD5, o.MD5)", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a byte has flipped and the store lists MD5"),
	},
	{
		name: "size-proves-content", rule: "M5",
		removes:  "only a checksum proves the content of a part",
		edits:    []edit{holds(partsFile, "compare", `p.ContentFingerprint != "" && o.Fingerprint != "" || p.ContentMD5 != "" && o.MD5 != ""`, "true")},
		caughtBy: verifying("TestCountsSayHowMuchIsProven").saying("a disk knows sizes"),
	},
	{
		name: "unknown-checksum-differs", rule: "M3, M5",
		removes:  "what one side does not know is not compared",
		edits:    []edit{holds(partsFile, "differ", `recorded != "" && found != "" && recorded != found`, "recorded != found")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a byte has flipped and the store knows sizes only"),
	},
	{
		name: "checksums-not-asked-for", rule: "M5",
		removes:  "checksums that a listing does not report are asked for",
		edits:    []edit{holds(checkFile, "verifier.checkParts", "v.o.Depth == Sample", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a byte has flipped and the store knows xxh3"),
	},
	{
		name: "part-gone-since-the-listing-passes", rule: "M5",
		removes:  "a part that has gone since the listing is found",
		edits:    []edit{reads(partsFile, "askChecksums", "found[i] = nil // it has gone since", "if !$on { found[i] = nil } // it has gone since")},
		caughtBy: verifying("TestAPartThatGoesAfterTheListingIsMissing"),
	},
	{
		name: "finding-on-a-part-is-dropped", rule: "M5",
		removes:  "a finding on a part is in the verdict",
		edits:    []edit{holds(checkFile, "verifier.comparePart", "len(failures) > 0", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a part is gone"),
	},
	{
		name: "content-unmet-passes", rule: "M5, verify: content",
		removes:  "content that was demanded and not proven is found",
		edits:    []edit{holds(checkFile, "verifier.comparePart", "v.o.VerifyContent && v.r.SizeOnly > 0", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/content is demanded of a store that knows sizes only"),
	},
	{
		name: "content-at-a-light-look", rule: "M5, verify: content",
		removes:  "content that is demanded raises the depth of a light look",
		edits:    []edit{holds(verifyFile, "Options.withDefaults", "o.Depth == Light && o.VerifyContent", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/content is demanded and a light look is not enough"),
	},
	{
		name: "full-depth-reads-nothing", rule: "M5",
		removes:  "a look to the bottom reads the parts",
		edits:    []edit{reads(checkFile, "verifier.comparePart", "} else if v.o.Depth == Full {", "} else if v.o.Depth == Full && !$on {")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a byte has flipped and the part is downloaded"),
	},
	{
		name: "rows-of-the-file-not-compared", rule: "V19",
		removes:  "a part has as many rows as its manifest says",
		edits:    []edit{holds(contentFile, "ReadPart", "rows != p.Rows", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest counts another number of rows than the file"),
	},
	{
		name: "unreadable-part-passes", rule: "V19",
		removes:  "a part whose rows cannot be counted is found",
		edits:    []edit{ahead(contentFile, "ReadPart", "switch { case errors.Is(err, errUnknownFormat):", "if err != nil { return nil, proven, nil }")},
		caughtBy: verifying("TestAPartThatCannotBeReadFails"),
	},
	{
		name: "lines-are-rows", rule: "V19, WRT-11",
		removes:  "a line end inside a value is no row",
		edits:    []edit{holds(rowsFile, "csvRows", `c == '\n' && !quoted`, `c == '\n'`)},
		caughtBy: verifying("TestCSVRowsAreRecordsNotLines").saying("line ends inside values"),
	},
	{
		name: "cut-value-is-a-row", rule: "V19",
		removes:  "a file that ends inside a value is damaged",
		edits:    []edit{reads(rowsFile, "csvRows", "case quoted:", "case quoted && !$on:")},
		caughtBy: verifying("TestCSVRowsAreRecordsNotLines").saying("cut inside a value"),
	},
	{
		name: "other-sums-are-consistent", rule: "V19, M5",
		removes:  "a manifest whose numbers do not add up is found",
		edits:    []edit{reads(verifyPairFile, "verifier.readManifest", "if err := m.Check(); err != nil {", "if err := m.Check(); err != nil && !$on {")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest does not add up"),
	},
	{
		name: "row-sum-not-checked", rule: "V19",
		removes:  "the rows of a manifest are the sum of those of its parts",
		edits:    []edit{holds(checkedFile, "Manifest.check", "rows != m.RowCount", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest does not add up"),
	},
	{
		name: "part-count-not-checked", rule: "V19",
		removes:  "a manifest lists as many parts as it says",
		edits:    []edit{holds(checkedFile, "Manifest.check", "count != m.PartCount", "false")},
		caughtBy: deciding("TestManifestCheck/one part too few"),
	},
	{
		name: "part-listed-twice", rule: "V6, V19",
		removes:  "no object is two parts of a manifest",
		edits:    []edit{reads(checkedFile, "Manifest.check", "if paths[p.Path] {", "if paths[p.Path] && !$on {")},
		caughtBy: deciding("TestManifestCheck/a path twice"),
	},
	{
		name: "part-id-twice", rule: "V19",
		removes:  "no part id stands twice",
		edits:    []edit{reads(checkedFile, "Manifest.check", "if ids[p.PartID] {", "if ids[p.PartID] && !$on {")},
		caughtBy: deciding("TestManifestCheck/an id twice"),
	},
	{
		name: "part-outside-the-prefix", rule: "M5",
		removes:  "a manifest names objects of its own prefix only",
		edits:    []edit{holds(checkedFile, "Part.check", "!safeRelative(p.Path)", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest names an object outside the prefix"),
	},
	{
		name: "damaged-manifest-passes", rule: "M5, M6",
		removes:  "a manifest that cannot be read is found",
		edits:    []edit{ahead(verifyPairFile, "verifier.readManifest", "m, err := contract.DecodeManifest(v.body)", "if _, err := contract.DecodeManifest(v.body); err != nil { return }")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest is not JSON"),
	},
	{
		name: "manifest-of-a-failed-run-passes", rule: "M5",
		removes:  "only the manifest of a success passes",
		edits:    []edit{holds(verifyPairFile, "verifier.readManifest", "m.Status != contract.StatusSuccess", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the run that published has failed"),
	},
	{
		name: "missing-manifest-passes", rule: "MAN-04",
		removes:  "a manifest that was taken away under its marker is found",
		edits:    []edit{does(verifyPairFile, "verifier.withoutManifest", "v.find(contract.ManifestMissing(v.o.Prefix))", "v.r.Verification.LegacyRun = true")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the manifest is gone under its marker"),
	},
	{
		name: "stale-marker-is-consistent", rule: "M2, MAN-09",
		removes:  "a marker of another manifest is found",
		edits:    []edit{holds(verifyPairFile, "verifier.readMarker", "f != v.r.Fingerprint", "false")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/the marker is of another manifest"),
	},
	{
		name: "damaged-marker-is-absent", rule: "M2, MAN-09",
		removes:  "a damaged marker is found",
		edits:    []edit{ahead(verifyPairFile, "verifier.readMarker", "v.r.Marker = MarkerMalformed v.marker = append(v.marker, contract.SuccessMalformed(body))", "v.r.Marker = MarkerAbsent; return")},
		caughtBy: verifying("TestAHostileMarkerIsNeverTakenForOne"),
	},
	{
		name: "replaced-pair-is-judged", rule: "M2",
		removes:  "a pair that is being replaced is read again",
		edits:    []edit{holds(verifyPairFile, "verifier.readPair", "v.r.Marker == MarkerStale && v.manifestNow(ctx) != v.r.Fingerprint", "false")},
		caughtBy: verifying("TestAPairThatIsReplacedMeanwhileIsReadAgain"),
	},
	{
		name: "first-manifest-is-missing", rule: "M2",
		removes:  "a first manifest that appears before its marker is read is no missing one",
		edits:    []edit{holds(verifyPairFile, "verifier.withoutManifest", `v.manifestNow(ctx) != ""`, "false")},
		caughtBy: verifying("TestAPairThatIsReplacedMeanwhileIsReadAgain"),
	},
	{
		name: "empty-prefix-is-a-legacy-run", rule: "M6",
		removes:  "a prefix without data is no legacy run",
		edits:    []edit{ahead(verifyPairFile, "verifier.withoutManifest", "v.r.Verification.LegacyRun = data", "data = true")},
		caughtBy: verifying("TestAPrefixWithoutDataIsNoLegacyRun"),
	},
	{
		name: "required-manifest-may-be-missing", rule: "M6",
		removes:  "a prefix that somebody expects a manifest in has to have one",
		edits:    []edit{holds(verifyPairFile, "verifier.withoutManifest", "!v.o.Required", "true")},
		caughtBy: verifying("TestEveryFindingHasItsKindAndWeight/a prefix that somebody expects a manifest in has none"),
	},
	{
		name: "hidden-files-are-data", rule: "M6",
		removes:  "files that a reader by glob does not see are no data",
		edits:    []edit{holds(verifyPairFile, "verifier.holdsData", "hidden || contract.IsSidecarName(path.Base(o.Key))", "false")},
		caughtBy: verifying("TestAPrefixWithoutDataIsNoLegacyRun"),
	},
	{
		name: "legacy-run-has-failed", rule: "M6",
		removes:  "output without a manifest is labelled",
		edits:    []edit{holds(verdictFile, "Result.Verdict", "r.Verification.LegacyRun", "false")},
		caughtBy: verifying("TestVerdictInOneWord"),
	},
	{
		name: "silence-is-a-verdict", rule: "M5",
		removes:  "a store that does not answer leaves no verdict on the data",
		edits:    []edit{ahead(verifyFile, "verifier.unanswered", "v.r.Unanswered =", `return contract.Detailed(kind, "%v", err)`)},
		caughtBy: verifying("TestAStoreThatDoesNotAnswerIsNoVerdictOnTheData"),
	},
	{
		name: "untracked-not-counted", rule: "MAN-15",
		removes:  "objects that no manifest lists are counted",
		edits:    []edit{ahead(checkFile, "verifier.reportUntracked", "v.r.Untracked = len(l.strays)", "return")},
		caughtBy: verifying("TestOnlyWhatNobodyExplainsIsUntracked/an operator's file"),
	},
	{
		name: "untracked-object-fails", rule: "MAN-15",
		removes:  "an object that no manifest lists is harmless",
		edits:    []edit{holds(verdictKindFile, "VerdictKind.Fatal", "k.Class() != VerdictNote", "true")},
		caughtBy: deciding("TestVerdicts"),
	},
	{
		name: "untracked-without-bound", rule: "MAN-15",
		removes:  "a verdict names a bounded number of objects",
		edits:    []edit{holds(checkFile, "verifier.reportUntracked", "i == MaxUntracked", "false")},
		caughtBy: verifying("TestAVerdictNamesABoundedNumberOfStrays"),
	},
	{
		name: "control-objects-are-untracked", rule: "MAN-13",
		removes:  "control and quarantine folders are explained",
		edits:    []edit{holds(listingFile, "verifier.list", "nested && (top == contract.ControlDir || top == quarantineDir)", "false")},
		caughtBy: verifying("TestOnlyWhatNobodyExplainsIsUntracked/control objects of any run"),
	},
	{
		name: "superseded-parts-are-untracked", rule: "MAN-13",
		removes:  "parts of the manifest are explained, whatever their status",
		edits:    []edit{holds(listingFile, "verifier.list", "explained[o.Key]", "false")},
		caughtBy: verifying("TestPartsThatDoNotCountAreNeitherMissedNorUntracked"),
	},
	{
		name: "another-dataset-is-untracked", rule: "MAN-13",
		removes:  "a folder with a manifest of its own is another dataset",
		edits:    []edit{holds(listingFile, "verifier.list", "datasets[dir]", "false")},
		caughtBy: verifying("TestOnlyWhatNobodyExplainsIsUntracked/another dataset in a folder below"),
	},
	{
		name: "siblings-claim-nothing", rule: "MAN-12",
		removes:  "parts of other runs of the export are tracked",
		edits:    []edit{does(checkFile, "verifier.reportUntracked", "v.claim(ctx, &l)", "")},
		caughtBy: verifying("TestPartsOfSiblingsAreClaimed/an earlier success of the export"),
	},
	{
		name: "failed-siblings-claim", rule: "MAN-12",
		removes:  "only successes claim parts",
		edits:    []edit{holds(listingFile, "verifier.siblings", "m.Status == contract.StatusSuccess", "true")},
		caughtBy: verifying("TestPartsOfSiblingsAreClaimed/a run that did not succeed"),
	},
	{
		name: "another-export-claims", rule: "MAN-12",
		removes:  "only runs of the same export claim parts",
		edits:    []edit{holds(listingFile, "verifier.siblings", "family(m) == family(v.r.Manifest)", "true")},
		caughtBy: verifying("TestPartsOfSiblingsAreClaimed/another export"),
	},
	{
		name: "sidecars-of-years-are-read", rule: "DST-02",
		removes:  "a bounded number of sidecars is read",
		edits:    []edit{holds(listingFile, "verifier.claim", "m.Generation > 0 && read >= siblingLimit", "false")},
		caughtBy: verifying("TestYearsOfRunsAreNotReadAgain"),
	},
	{
		name: "split-datasets-not-folded", rule: "MAN-12",
		removes:  "a dataset that the upstream has split over manifests is judged whole",
		edits:    []edit{ahead(listingFile, "verifier.folded", "m := v.r.Manifest", "return nil")},
		caughtBy: verifying("TestSiblingsOfTheUpstreamsSharedPrefixesCount/a split export"),
	},
	{
		name: "own-runs-are-folded", rule: "MAN-12",
		removes:  "a run of ours is whole in its own manifest",
		edits:    []edit{holds(listingFile, "verifier.folded", "m.Generation > 0", "false")},
		caughtBy: verifying("TestSiblingsOfTheUpstreamsSharedPrefixesCount/so is an empty run of ours"),
	},
	{
		name: "parts-by-impossible-names", rule: "M5",
		removes:  "a part whose name no store takes is a missing one",
		edits:    []edit{holds(partsFile, "findParts", "destination.CheckKey(parts[i].Path) != nil", "false")},
		caughtBy: verifying("TestPartsOfImpossibleNamesAreMissing"),
	},
	{
		name: "verdict-of-the-future-is-read", rule: "QUE-17",
		removes:  "a verdict of an unknown version is refused",
		edits:    []edit{holds(verdictFile, "DecodeDocument", "d.VerdictVersion != DocumentVersion", "false")},
		caughtBy: verifying("TestADocumentOfTheFutureIsRefused"),
	},
}
