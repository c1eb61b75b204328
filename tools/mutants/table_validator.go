package main

const (
	validatorFile = "functions/validator/handler.go"
	placeFile     = "functions/validator/place.go"
	eventFile     = "functions/validator/event.go"
)

// validatorMutants break the verdict on a prefix: on which state it is given,
// that it is given once, and where it is put (architecture §5.3).
var validatorMutants = []mutant{
	{
		name: "verdict-is-overwritten", rule: "QUE-17",
		removes: "a verdict is written once",
		edits: []edit{ahead(placeFile, "place.store", "switch { case err == nil: return true, nil", `
			if errors.Is(err, destination.ErrExists) {
				o, _ := p.root.Head(ctx, p.key)
				_, err = p.root.Replace(ctx, p.key, o.Version, body, destination.Meta{})
			}`)},
		caughtBy: validating("TestTwoDeliveriesAtOnceTellOnce"),
	},
	{
		name: "verdict-is-told-twice", rule: "QUE-17, V15",
		removes:  "only the delivery that stored the verdict tells of it",
		edits:    []edit{holds(validatorFile, "handler.judge", "!stored", "false")},
		caughtBy: validating("TestTwoDeliveriesAtOnceTellOnce"),
	},
	{
		name: "judged-again", rule: "QUE-17",
		removes:  "a manifest that has its verdict is not looked at again",
		edits:    []edit{holds(validatorFile, "handler.handle", "judged || err != nil", "err != nil")},
		caughtBy: validating("TestARepeatedEventListsNothing"),
	},
	{
		name: "lost-verdict-is-another-s", rule: "QUE-17",
		removes:  "a verdict whose answer was lost is the own one",
		edits:    []edit{holds(placeFile, "place.store", "string(there) == string(body)", "false")},
		caughtBy: validating("TestAnAnswerThatIsLostIsAskedForAgain"),
	},
	{
		name: "another-s-verdict-is-mine", rule: "QUE-17",
		removes:  "a verdict with other bytes is that of another delivery",
		edits:    []edit{holds(placeFile, "place.store", "string(there) == string(body)", "true")},
		caughtBy: validating("TestTwoDeliveriesAtOnceTellOnce"),
	},
	{
		name: "verdict-without-a-fence", rule: "M10",
		removes:  "nothing is written where the export has no fence",
		edits:    []edit{holds(placeFile, "handler.locate", "p.fence.Absent()", "false")},
		caughtBy: validating("TestVerdictsOnADamagedPrefix/a copy of the prefix in a bucket without the control folder"),
	},
	{
		name: "verdict-before-the-marker", rule: "§5.3",
		removes:  "a manifest without its marker has no verdict yet",
		edits:    []edit{holds(validatorFile, "handler.judge", "r.Marker == verify.MarkerAbsent", "false")},
		caughtBy: validating("TestVerdictsOnADamagedPrefix/the marker has gone again"),
	},
	{
		name: "stale-marker-is-final-at-once", rule: "§5.3",
		removes:  "a stale marker is pending while somebody publishes",
		edits:    []edit{holds(validatorFile, "handler.settled", "r.Marker != verify.MarkerStale || !at.ours || otherFatal(r)", "true")},
		caughtBy: validating("TestAStaleMarkerIsPendingWhileSomebodyPublishes/open"),
	},
	{
		name: "stale-marker-is-pending-for-ever", rule: "§5.3",
		removes:  "a stale marker is final once nobody publishes",
		edits:    []edit{holds(validatorFile, "handler.settled", "at.fence.Doc.State != contract.FenceCommitted", "true")},
		caughtBy: validating("TestAStaleMarkerIsPendingWhileSomebodyPublishes/committed"),
	},
	{
		name: "stale-marker-of-no-run-is-pending", rule: "§5.3",
		removes:  "a manifest that no run has published is not waited for",
		edits:    []edit{holds(validatorFile, "handler.settled", "sidecar != nil && contract.FingerprintOf(sidecar) == r.Fingerprint", "true")},
		caughtBy: validating("TestAStaleMarkerIsFinalForAManifestThatNoRunPublished"),
	},
	{
		name: "missing-part-is-pending", rule: "§5.3",
		removes:  "what waiting does not heal is not waited for",
		edits:    []edit{holds(validatorFile, "handler.settled", "otherFatal(r)", "false")},
		caughtBy: validating("TestWaitingDoesNotHealAMissingPart"),
	},
	{
		name: "moved-pair-is-judged", rule: "QUE-17",
		removes:  "a verdict is on the pair that is there when the fence says that nobody publishes",
		edits:    []edit{holds(validatorFile, "handler.settled", "again.Marker == verify.MarkerStale && again.Fingerprint == r.Fingerprint && again.MarkerFingerprint == r.MarkerFingerprint", "true")},
		caughtBy: validating("TestAPublicationUnderTheHandlerIsNeverFailed"),
	},
	{
		name: "unread-sidecar-is-none", rule: "§5.3",
		removes:  "a sidecar that the store does not show now is asked for again",
		edits:    []edit{holds(validatorFile, "handler.settled", "err != nil && fault.Retry(err)", "false")},
		caughtBy: validating("TestASidecarThatIsNotShownDecidesNothing"),
	},
	{
		name: "unanswered-is-judged", rule: "§5.3",
		removes:  "no verdict is made of what a store did not answer",
		edits:    []edit{holds(validatorFile, "handler.handle", "r.Unanswered != nil", "false")},
		caughtBy: validating("TestEveryRequestMayFailOnce"),
	},
	{
		name: "unanswered-plan-asks-for-sizes", rule: "verify: content",
		removes:  "a plan that the store does not show now is asked for again",
		edits:    []edit{holds(placeFile, "handler.locate", "errors.As(err, &unanswered)", "false")},
		caughtBy: validating("TestEveryRequestMayFailOnce"),
	},
	{
		name: "plan-does-not-ask-for-content", rule: "verify: content",
		removes:  "content is verified if the plan of the run says so",
		edits:    []edit{holds(validatorFile, "handler.judge", "at.content", "false")},
		caughtBy: validating("TestContentIsDemandedIfThePlanDoes"),
	},
	{
		name: "required-content-is-forgotten", rule: "verify: content",
		removes:  "parts compared by size only fail a run that asked for content",
		edits:    []edit{holds(verifyFile, "Result.RequireContent", "r.SizeOnly > 0", "false")},
		caughtBy: validating("TestContentIsDemandedIfThePlanDoes"),
	},
	{
		name: "control-path-down", rule: "§5.3",
		removes:  "a control path leads from the prefix to a folder around it",
		edits:    []edit{holds("shared/contract/name.go", "ControlFolders", `step != ".."`, "false")},
		caughtBy: validating("TestAHostileControlPathWritesNothing"),
	},
	{
		name: "control-path-leaves-the-bucket", rule: "§5.3",
		removes:  "a control path stays inside the bucket",
		edits:    []edit{ahead(placeFile, "rootOf", "switch {", "up = min(up, len(folders))")},
		caughtBy: validating("TestRootOf"),
	},
	{
		name: "run-id-of-dots", rule: "§5.3",
		removes:  "names of dots lead a verdict nowhere else",
		edits:    []edit{holds(placeFile, "handler.locate", "!isVerdictKey(p.key)", "false")},
		caughtBy: validating("TestAHostileControlPathWritesNothing"),
	},
	{
		name: "refused-control-path-passes", rule: "§5.3",
		removes:  "a manifest with a hostile control path fails",
		edits:    []edit{holds(validatorFile, "handler.judge", `at.refusal != ""`, "false")},
		caughtBy: validating("TestAHostileControlPathWritesNothing"),
	},
	{
		name: "quarantine-is-judged", rule: "QUE-19",
		removes:  "nothing is judged in folders of control objects",
		edits:    []edit{holds(validatorFile, "Handle", "inControlFolder(prefix)", "false")},
		caughtBy: validating("TestMessagesThatAskForNothing"),
	},
	{
		name: "marker-in-quarantine-is-an-event", rule: "QUE-19",
		removes:  "a marker in a folder of control objects asks for nothing",
		edits:    []edit{holds(eventFile, "markerPrefix", `!inControlFolder(strings.TrimSuffix(dir, "/"))`, "true")},
		caughtBy: validating("TestEventsBecomeTasks/a marker in quarantine"),
	},
	{
		name: "key-of-an-event-is-not-decoded", rule: "QUE-16",
		removes:  "the key of a notification is decoded",
		edits:    []edit{reads(eventFile, "Tasks", "url.QueryUnescape(r.S3.Object.Key)", "func() (string, error) { if $on { return r.S3.Object.Key, nil }; return url.QueryUnescape(r.S3.Object.Key) }()")},
		caughtBy: validating("TestEventsBecomeTasks/a notification, whose key is encoded"),
	},
	{
		name: "verdict-is-not-told", rule: "V15",
		removes:  "a verdict is told",
		edits:    []edit{ahead(validatorFile, "handler.judge", "h.notify(ctx, r,", `return wire.Done("judged"), nil`)},
		caughtBy: validating("TestAVerdictIsStoredBesideTheReport"),
	},
	{
		name: "pending-is-not-told", rule: "§5.3",
		removes:  "a prefix that is waited for is told",
		edits:    []edit{does(validatorFile, "handler.wait", `h.notify(ctx, r, "pending")`, "")},
		caughtBy: validating("TestAStaleMarkerIsPendingWhileSomebodyPublishes/open"),
	},
	{
		name: "pending-is-done", rule: "§5.3, V17",
		removes:  "a message about a prefix that is being published comes back",
		edits:    []edit{ahead(validatorFile, "handler.wait", "return wire.Again(", `return wire.Done("pending")`)},
		caughtBy: validating("TestAStaleMarkerIsPendingWhileSomebodyPublishes/open"),
	},
}
