package model

// size is how much an exploration costs.
type size uint8

const (
	small  size = iota // under a second, always
	medium             // seconds, not in short runs
	huge               // millions of states, only when all are asked for
)

// variant is one exploration: a rule as it is, or with a part of it left out.
type variant struct {
	rule    string
	broken  string // the invariant that must be violated; "" for a rule that holds
	size    size
	stopsAt int // an exploration that does not close is stopped after so many states
	explore func(bound int) Result
}

type chapter struct {
	name, about string
	variants    []variant
}

// chapters are all the models, in the order of the documentation.
func chapters() []chapter {
	return []chapter{
		publishChapter(), sealChapter(), rollForwardChapter(), adoptChapter(), takeChapter(), lifeChapter(), repairChapter(), reanchorChapter(),
		partitionChapter(), tieChapter(), partChapter(), resumeChapter(), revokeChapter(), replanChapter(), claimChapter(), reclaimChapter(), faninChapter(), freezeChapter(), failChapter(),
	}
}

func publishChapter() chapter {
	late := []publishStep{readFence, capturePair, putSidecar, swapManifest, swapMarker, swapCursor}
	early := []publishStep{capturePair, readFence, swapCursor, putSidecar, swapManifest, swapMarker}
	reread := []publishStep{capturePair, readFence, putSidecar, swapManifest, swapMarker, readFenceAgain, putCursor}
	of := func(rule publishRule) func(int) Result { return publish(rule).Explore }
	return chapter{"Publishing", "Two runs, two finalizers each, a crash anywhere, versions derived from content.", []variant{
		{"capture the pair, then read the fence, then compare and swap", "", medium, 0, of(publishRule{order: publishOrder})},
		{"the fence is read before the pair is captured", "V8", small, 0, of(publishRule{order: late})},
		{"the fence is not read", "V8", small, 0, of(publishRule{order: publishOrder, ignoresFence: true})},
		{"manifest and marker are stored without a version", "V8", small, 0, of(publishRule{order: publishOrder, putsPair: true})},
		{"the cursor is stored after the fence was read again", "V8", small, 0, of(publishRule{order: reread})},
		{"the cursor is stored without a version", "V8", small, 0, of(publishRule{order: publishOrder, putsCursor: true})},
		{"the cursor moves before the manifest", "V10", small, 0, of(publishRule{order: early})},
	}}
}

func sealChapter() chapter {
	of := func(rule sealRule) func(int) Result { return sealed(rule).Explore }
	two := sealRule{runs: runB, planners: 1, finalizers: 1, sealsItself: true}
	planners, finalizers, resumed, both := two, two, two, two
	planners.planners, finalizers.finalizers, resumed.resumes = 2, 2, 1
	both.finalizers, both.resumes = 2, 1
	three := two
	three.runs = runC
	threeResumed := three
	threeResumed.resumes = 1
	without := func(change func(*sealRule)) func(int) Result {
		rule := threeResumed
		change(&rule)
		return of(rule)
	}
	return chapter{"Sealing a predecessor", "A run takes the fence, seals its predecessor or takes over the end of its window, opens, and commits by the create-only write of its sidecar. A crash anywhere, zombies, versions derived from content.", []variant{
		{"two runs with two planners each", "", medium, 0, of(planners)},
		{"two runs with two finalizers each", "", medium, 0, of(finalizers)},
		{"two runs, the first is resumed", "", small, 0, of(resumed)},
		{"two runs with two finalizers each, the first is resumed", "", huge, 4_000_000, of(both)},
		{"three runs", "", medium, 0, of(three)},
		{"three runs, the first is resumed", "", medium, 0, of(threeResumed)},
		{"nobody is sealed or rolled forward", "V10", medium, 0, without(func(r *sealRule) { r.neverSeals, r.neverRollsForward = true, true })},
		{"a predecessor is rolled forward, never sealed", "V10", medium, 0, without(func(r *sealRule) { r.neverSeals = true })},
		{"a predecessor is sealed, never rolled forward", "V10", medium, 0, without(func(r *sealRule) { r.neverRollsForward = true })},
		{"the owner is sealed before the fence is taken", "V10", medium, 0, without(func(r *sealRule) { r.sealsBeforeFence = true })},
		{"a resume stores the fence without a version", "V10", medium, 0, without(func(r *sealRule) { r.resumeWithoutSwap = true })},
	}}
}

func rollForwardChapter() chapter {
	of := func(rule sealRule, runs run, planners int) func(int) Result {
		rule.runs, rule.planners, rule.finalizers, rule.publishesPredecessor = runs, planners, 1, true
		return sealed(rule).Explore
	}
	return chapter{"Rolling a predecessor forward", "The successor publishes the pair of a predecessor that has committed, before it opens.", []variant{
		{"the fence must be exactly opening, two planners each", "", medium, 0, of(sealRule{}, runB, 2)},
		{"the fence must be exactly opening, three runs", "", medium, 0, of(sealRule{}, runC, 1)},
		{"the fence may be open, so that a duplicate may have published already", "V8", medium, 0, of(sealRule{helpsWhileOpen: true}, runB, 2)},
		{"a finalizer does not read the fence", "V8", small, 0, of(sealRule{ignoresFence: true}, runB, 1)},
	}}
}

func adoptChapter() chapter {
	of := func(runs run, finalizers int) func(int) Result {
		return sealed(sealRule{runs: runs, planners: 1, finalizers: finalizers, resumes: 1, publishesPredecessor: true, adopts: true}).Explore
	}
	return chapter{"Adopting a success", "A resumed run that finds its own success publishes those bytes, whatever their generation.", []variant{
		{"two runs, the first is resumed", "", small, 0, of(runB, 1)},
		{"three runs, the first is resumed", "", medium, 0, of(runC, 1)},
		{"two runs with two finalizers each, the first is resumed", "", huge, 4_000_000, of(runB, 2)},
	}}
}

func takeChapter() chapter {
	return chapter{"Taking the fence once", "Planners crash between OPEN and the table's record of it.", []variant{
		{"a planner looks at its own sidecar before it takes the fence and before it records it", "", medium, 0, takeOnce(takeRule{looksAtSidecar: true}).Explore},
		{"it trusts the table", "V17", small, 0, takeOnce(takeRule{}).Explore},
		{"it trusts the table, and may be its own predecessor", "V17", medium, 0, takeOnce(takeRule{ignoresSelf: true}).Explore},
	}}
}

func lifeChapter() chapter {
	rule := lifeRule{fenceNamesLife: true, recordNamesLife: true, looksAtRun: true}
	without := func(change func(*lifeRule)) func(int) Result {
		rule := rule
		change(&rule)
		return lives(rule).Explore
	}
	return chapter{"The lives of a run", "The table is lost while three deliveries of one trigger plan the run, of which one may crash, and two finalizers publish it.", []variant{
		{"the fence names the life that took it; another life takes a new generation, after a look at RUN", "", medium, 0, lives(rule).Explore},
		{"the planner that created RUN takes a new generation of whatever is open", "V17", small, 0, lives(lifeRule{creatorResumes: true}).Explore},
		{"every planner goes on under whatever is open", "V18", small, 0, lives(lifeRule{}).Explore},
		{"T2 does not name the life", "V17", small, 0, without(func(r *lifeRule) { r.recordNamesLife = false })},
		{"RUN is not read between the fence and its swap", "V17", small, 0, without(func(r *lifeRule) { r.looksAtRun = false })},
	}}
}
