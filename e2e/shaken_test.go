package e2e

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// conditionalWrites are the kinds of writes with a precondition that a run makes.
var conditionalWrites = []string{
	"PUT _SUCCESS", "PUT cursor.json", "PUT manifest.json", "PUT part", "PUT plan.json", "PUT probe", "PUT record", "PUT sidecar",
	"PUT summary.html", "PUT summary.json", "PUT summary.md", "PUT trace", "PUT verdict",
	"PutItem", "TransactWriteItems", "UpdateItem",
}

// Every conditional write of a run meets the same accident once. The process
// finds out what became of each, and delivers every row once.
func TestEveryConditionalWriteMeetsAnAccident(t *testing.T) {
	c := needContest(t)
	for _, tc := range []struct {
		name         string
		store, table func(p *proxy) fate
		// told is true when the process can find out that its write has landed, or
		// that it may send it again. Else the command may fail, and is repeated:
		// each operation meets the accident once.
		told bool
	}{
		{"its answer is lost", always(losesAnswer), always(losesAnswer), true},
		{"it is delivered twice", always(repeats), always(repeats), true},
		{"it lands and is answered 500", always(storeFails(500, "InternalError", true)), always(tableFails(500, "InternalServerError", true)), true},
		{"it lands and is answered 503", always(storeFails(503, "SlowDown", true)), always(tableFails(503, "ServiceUnavailable", true)), true},
		{"it is answered 409 or throttled", always(storeFails(409, "ConditionalRequestConflict", false)), always(tableFails(400, "ThrottlingException", false)), true},
		{"it is answered 500", always(storeFails(500, "InternalError", false)), always(tableFails(500, "InternalServerError", false)), false},
		{"the request is lost", always(losesRequest), always(losesRequest), false},
		{"the request arrives after it was given up", late, late, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := contest(t, c, "shaken "+tc.name)
			store, table := x.proxies(t)
			same := identity
			if !tc.told {
				same = shape
			}
			inStore, inTable := store.onceEach(tc.store(store), same), table.onceEach(tc.table(table), same)
			d := x.desk(t, store, table)
			o := d.run(t, x.command("run")...)
			for try := 0; o.code == fault.ExitRetryable && !tc.told && try < 100; try++ {
				x.judge(t)
				o = d.run(t, x.command("run", "--supersede")...)
			}
			if o.code != 0 {
				t.Fatal(o)
			}
			store.late.Wait()
			table.late.Wait()
			m := x.wantNewest(t)
			if m.PartCount != contestedChunks {
				t.Errorf("%d parts", m.PartCount)
			}
			met := inStore()
			maps.Copy(met, inTable())
			for _, kind := range conditionalWrites {
				if met[kind] == 0 {
					t.Errorf("no %s met the accident: the test no longer tests anything", kind)
				}
			}
			for kind := range met {
				if !slices.Contains(conditionalWrites, kind) {
					t.Errorf("%s is a new conditional write: list it", kind)
				}
			}
		})
	}
}

func always(f fate) func(*proxy) fate { return func(*proxy) fate { return f } }

func late(p *proxy) fate { return p.arrivesLate(100 * time.Millisecond) }
