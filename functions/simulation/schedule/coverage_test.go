package schedule

import (
	"errors"
	"path"
	"strings"
	"testing"

	destfaulty "github.com/lapstrake/lapstrake/shared/destination/faulty"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// saw notes that something has happened in this simulation. What the default
// seeds have to see is in [wanted]: a simulator goes blind by no longer coming
// to where the defects are.
func (s *simulation) saw(event string) {
	if s.seen != nil {
		s.seen[event] = true
	}
}

func (s *simulation) sawTopology() {
	t := s.top
	s.saw("topology " + t.name)
	s.saw("format " + t.export.Format)
	s.saw("verify " + t.export.Verify)
	s.saw("prefix " + t.export.PrefixTemplate)
	s.saw("store with checksum " + t.like.StoreChecksum)
	if t.export.SkipEmpty {
		s.saw("skip_empty")
	}
}

// doubts notes that the answer to a call is lost.
func (p *process) doubts(op string) {
	if p.unsure == nil {
		p.unsure = make(map[string]bool)
	}
	if _, key, ok := strings.Cut(op, " "); ok {
		p.unsure[key] = true
	}
}

// sawObject notes what a call of the bucket has come to.
func (p *process) sawObject(c destfaulty.Call, err error) {
	name := path.Base(c.Key)
	switch {
	case strings.HasPrefix(name, "part-"):
		name = "part"
	case contract.IsSidecarName(name):
		name = "sidecar"
	case strings.HasPrefix(name, "record-"), strings.HasPrefix(name, "verdict-"), strings.HasPrefix(name, "summary."):
		name, _, _ = strings.Cut(strings.ReplaceAll(name, ".", "-"), "-")
	}
	lost := errors.Is(err, destination.ErrExists) || errors.Is(err, destination.ErrMoved)
	switch {
	case c.Write > 0 && lost:
		p.s.saw("refused: " + c.Op + " " + name)
	case c.Write == 0 && p.unsure[c.Key]:
		p.s.saw("a lost answer is read back: " + name)
	}
	if c.Op != "get" || name != "cursor.json" {
		return
	}
	p.first = errors.Is(err, destination.ErrNotFound)
	if run, ok := strings.CutPrefix(p.what, "finalize "); ok {
		run, _, _ = strings.Cut(run, " ")
		if owner := p.s.check.cursor.OwnerRunID; owner != contract.RunID(run) {
			p.s.saw("F6 finds another owner")
		}
	}
}

// sawFence names the step of the fence document.
func (c *checker) sawFence(was, now contract.CursorDocument) {
	switch {
	case was.Generation == 0 && now.State == contract.FenceOpen:
		c.s.saw("fence: re-anchored")
	case was.Generation == 0:
		c.s.saw("fence: first TAKE")
	case now.OwnerRunID != was.OwnerRunID:
		c.s.saw("fence: TAKE from " + string(was.State))
	case now.Generation > was.Generation && now.State == contract.FenceCommitted:
		c.s.saw("fence: repair")
	case now.Generation > was.Generation:
		c.s.saw("fence: RESUME from " + string(was.State))
	case now.State != was.State:
		c.s.saw("fence: " + string(was.State) + " to " + string(now.State))
	case now.State == contract.FenceCommitted:
		c.s.saw("fence: learns of a repaired manifest")
	}
	if !now.Position.Equal(was.Position) && now.State == contract.FenceOpen {
		c.s.saw("fence: OPEN over the window of a predecessor")
	}
}

// sawRun names the step of a run's item.
func (c *checker) sawRun(op string, was, now runstate.Run) {
	switch {
	case op == "ClaimResume":
		c.s.saw("a run is resumed that is " + string(was.Status))
	case now.Status == was.Status:
	case now.Status == runstate.RunSucceeded && c.cursor.OwnerRunID != now.RunID:
		c.s.saw("a run succeeds that another has followed")
	case now.Status == runstate.RunSucceeded && was.Status == runstate.RunFailed:
		c.s.saw("a failed run turns out to have committed")
	default:
		c.s.saw("a run becomes " + string(now.Status))
	}
}

// sawTask names the step of a task.
func (c *checker) sawTask(p *process, op string, was, now runstate.Chunk) {
	switch {
	case op == "Claim" && was.Status == runstate.ChunkRunning:
		c.s.saw("a task is taken over")
	case op == "Claim" && was.Status == runstate.ChunkFailed:
		c.s.saw("a task is tried again")
	case op == "Repair" || op == "Split" || op == "Expire" || op == "ResumeChunk":
		c.s.saw("task: " + op)
	case op == "Fail" && now.Exhausted():
		c.s.saw("task: fails for good")
	}
	if now.Status != runstate.ChunkCompleted || was.Status == runstate.ChunkCompleted {
		return
	}
	for _, part := range now.Parts {
		o := c.objects[c.prefixOf(now.RunID)+part.Path]
		if o.by != p.id {
			c.s.saw("a part of another attempt is adopted")
		}
		if strings.Contains(part.Path, part.Fingerprint.Hex()) {
			c.s.saw("a part has its fingerprint in its name")
		}
	}
}

// judge fails the test for everything that was to be seen and was not.
func (l *tally) judge(t *testing.T) {
	for _, event := range sorted(wanted) {
		if least := l.seeds / wanted[event]; l.events[event] < least {
			t.Errorf("%q happened in %d of %d seeds, at least one in %d was to see it: what would break there is no longer found", event, l.events[event], l.seeds, wanted[event])
		}
	}
}

// wanted is what the seeds have to come to: at least once in so many.
var wanted = map[string]int{
	"F6 finds another owner":                                  200,
	"a fan-in is full":                                        10,
	"a late write is refused":                                 100,
	"a late write lands":                                      100,
	"a lost answer is read back: _SUCCESS":                    5000,
	"a lost answer is read back: cursor.json":                 400,
	"a lost answer is read back: part":                        1000,
	"a lost answer is read back: plan.json":                   1000,
	"a lost answer is read back: record":                      5000,
	"a lost answer is read back: sidecar":                     2000,
	"a generation is revoked by its own run":                  200,
	"a message outlives its process":                          100,
	"a part has its fingerprint in its name":                  2000,
	"a part is moved to quarantine":                           400,
	"a part of another attempt is adopted":                    400,
	"a predecessor is rolled forward":                         1000,
	"a process wakes up after a rival has published":          20,
	"a repair replaces a sidecar":                             1000,
	"a run becomes failed":                                    200,
	"a run becomes finalizing":                                5,
	"a run becomes planning":                                  5,
	"a run becomes refused":                                   100,
	"a run becomes running":                                   5,
	"a run becomes succeeded":                                 5,
	"a run becomes superseded":                                20,
	"a run commits":                                           10,
	"a run is resumed that is failed":                         200,
	"a run is resumed that is finalizing":                     1000,
	"a run is resumed that is planning":                       100,
	"a run is resumed that is running":                        100,
	"a run is resumed that is succeeded":                      1000,
	"a run succeeds that another has followed":                400,
	"a successor seals":                                       20,
	"a superseded run's finalizer seals it":                   5000,
	"a task is taken over":                                    100,
	"a task is tried again":                                   200,
	"an older copy of the fence is refused":                   100,
	"cursor: a window is committed that ends where it begins": 100,
	"cursor: late equals are delivered":                       2000,
	"cursor: rows come again without a key, and are counted":  200,
	"cursor: the position moves on":                           100,
	"delete row":                                              200,
	"deliver":                                                 5,
	"drop message":                                            400,
	"fence: OPEN over the window of a predecessor":            2000,
	"fence: RESUME from open":                                 100,
	"fence: RESUME from released":                             1000,
	"fence: TAKE from committed":                              10,
	"fence: TAKE from open":                                   20,
	"fence: TAKE from opening":                                400,
	"fence: TAKE from released":                               1000,
	"fence: first TAKE":                                       5,
	"fence: learns of a repaired manifest":                    1000,
	"fence: open to committed":                                5,
	"fence: open to released":                                 400,
	"fence: opening to open":                                  5,
	"fence: re-anchored":                                      1000,
	"fence: re-anchored over an older copy":                   500,
	"fence: repair":                                           1000,
	"forced repair":                                           400,
	"format csv":                                              10,
	"format parquet":                                          1000,
	"grant":                                                   5,
	"insert row":                                              100,
	"it does not land and nobody says so":                     100,
	"it fails":                                                20,
	"it lands and the answer is lost":                         20,
	"it lands and the process dies":                           20,
	"it lands late":                                           20,
	"move row":                                                400,
	"nobody says whether it lands, and it may do so later":    100,
	"notified: run failed":                                    200,
	"notified: run success":                                   5,
	"notified: run superseded":                                20,
	"notified: validation failed":                             4000,
	"notified: validation passed":                             20,
	"operator backs up the table":                             50,
	"operator deletes":                                        400,
	"operator deletes the cursor document":                    1000,
	"operator drops the table":                                200,
	"operator overwrites":                                     400,
	"operator puts back an older cursor document":             50,
	"operator puts back the newest cursor document":           200,
	"operator restores the table":                             50,
	"prefix out/":                                             10,
	"prefix {run_id}/":                                        20,
	"re-anchoring trigger":                                    1000,
	"refused: BeginFinalize":                                  400,
	"refused: Claim":                                          10,
	"refused: ClaimResume":                                    10,
	"refused: Complete":                                       200,
	"refused: CreateRun":                                      10,
	"refused: FailRun":                                        2000,
	"refused: MarkNotified":                                   20,
	"refused: NoteRun":                                        400,
	"refused: PutChunk":                                       20,
	"refused: RecordFence":                                    100,
	"refused: Refuse":                                         1000,
	"refused: Repair":                                         4000,
	"refused: ResumeChunk":                                    4000,
	"refused: ResumeRun":                                      4000,
	"refused: Split":                                          4000,
	"refused: StartRun":                                       20,
	"refused: SucceedRun":                                     20,
	"refused: SupersedeRun":                                   20,
	"refused: create part":                                    200,
	"refused: create plan.json":                               400,
	"refused: create record":                                  200,
	"refused: create sidecar":                                 20,
	"refused: create verdict":                                 1000,
	"refused: replace _SUCCESS":                               100,
	"refused: replace cursor.json":                            20,
	"refused: replace manifest.json":                          200,
	"resume":                                                  10,
	"skip_empty":                                              400,
	"stall":                                                   10,
	"store with checksum md5":                                 10,
	"store with checksum xxh3":                                20,
	"superseding trigger":                                     5,
	"sweep":                                                   10,
	"task: Expire":                                            5000,
	"task: Repair":                                            400,
	"task: ResumeChunk":                                       100,
	"task: Split":                                             200,
	"task: fails for good":                                    400,
	"the process dies before it":                              20,
	"the process dies, and it may land later":                 100,
	"the source refuses it for good":                          200,
	"tick":                                                    200,
	"topology NULL keys":                                      100,
	"topology chunked":                                        100,
	"topology empty":                                          100,
	"topology full":                                           100,
	"topology incremental":                                    100,
	"topology incremental that splits":                        100,
	"topology incremental without a key":                      100,
	"topology keyset":                                         100,
	"topology keyset_incremental":                             100,
	"topology many parts":                                     100,
	"topology splits":                                         100,
	"topology time_window":                                    100,
	"trigger":                                                 10,
	"update row":                                              200,
	"verify content":                                          10,
	"verify size":                                             20,
	"wait":                                                    5,
	"wake":                                                    10,
}
