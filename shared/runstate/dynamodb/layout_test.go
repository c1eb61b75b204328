package dynamodb

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// stopped is a clock at one time.
type stopped struct{ clock.System }

func (stopped) Now() time.Time { return noon }

func (t *Table) raw(tb *testing.T, k key) item {
	tb.Helper()
	found, err := t.read(tb.Context(), "raw", k)
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// ttlOf returns how long after noon an item ends, 0 if it never does.
func ttlOf(i item) time.Duration {
	n, ok := i["ttl"].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	seconds, _ := strconv.ParseInt(n.Value, 10, 64) // 0 when it is no number, which no test wants
	return time.Unix(seconds, 0).Sub(noon)
}

func TestOnlyARunThatHasEndedEnds(t *testing.T) {
	table := openVia(t, nil, stopped{})
	for _, step := range story {
		if err := step.do(t, table); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		want := time.Duration(0)
		r, err := table.GetRun(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status.Terminal() {
			want = KeepRuns
		}
		if got := ttlOf(table.raw(t, runKey(run))); got != want {
			t.Errorf("after %s the run is %s and ends after %v, want %v", step.name, r.Status, got, want)
		}
	}
	for _, k := range []key{table.chunkKey(run, task), table.chunkKey(run, task.SplitChild()), table.chunkKey(run, task.Repair()), faninKey(run, 0)} {
		if got := ttlOf(table.raw(t, k)); got != KeepItems {
			t.Errorf("item %v ends after %v, want %v", k, got, KeepItems)
		}
	}
}

func TestEveryWriteOfAChunkKeepsItForLonger(t *testing.T) {
	table := openVia(t, nil, stopped{})
	k := table.chunkKey(run, task)
	for _, step := range story[:10] {
		if err := step.do(t, table); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if table.raw(t, k) == nil || step.name == "StartRun" {
			continue
		}
		if got := ttlOf(table.raw(t, k)); got != KeepItems {
			t.Errorf("after %s the chunk ends after %v", step.name, got)
		}
		put := table.raw(t, k)
		put["ttl"] = number(noon.Unix())
		if _, err := table.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table.name, Item: put}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAChunkTakesAtMostEightRequests(t *testing.T) {
	table, l := openLine(t)
	for _, name := range []string{"CreateRun", "RecordFence", "PutFanin", "StartRun"} {
		for _, step := range story {
			if step.name == name {
				if err := step.do(t, table); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	l.breaks()
	ctx := t.Context()
	err1 := story[3].do(t, table) // the planner puts it
	_, err2 := table.GetRun(ctx, run)
	_, err3 := table.Claim(ctx, claim("mine", noon))
	err4 := table.Heartbeat(ctx, mine, late)
	_, err5 := table.Complete(ctx, mine, runstate.Result{Rows: 1}, noon)
	_, err6 := table.FaninAdd(ctx, run, 0, string(task))
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if len(l.sent) != 6 { // and the shard's last one adds to the root
		t.Errorf("%d requests: %v", len(l.sent), l.sent)
	}
}

func TestEveryReadIsConsistent(t *testing.T) {
	table, l := openLine(t)
	for _, step := range story {
		if err := step.do(t, table); err != nil {
			t.Fatal(err)
		}
	}
	l.breaks()
	ctx := t.Context()
	_, err1 := table.ListChunks(ctx, run, 0)
	_, err2 := table.ListActive(ctx)
	_, err3 := table.ListRuns(ctx, "a", 1)
	_, err4 := table.GetChunk(ctx, run, task)
	_, err5 := table.GetFanin(ctx, run, 0)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	if len(l.sent) != 6 || len(l.stale) != 0 {
		t.Errorf("of %v these may be stale: %v", l.sent, l.stale)
	}
}

func TestAnAbsentLeaseHasRunOut(t *testing.T) {
	table := openVia(t, nil, stopped{})
	for _, step := range story[:6] {
		if err := step.do(t, table); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []key{table.chunkKey(run, task), runKey(run)} {
		i := table.raw(t, k)
		delete(i, "lease_until")
		if _, err := table.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table.name, Item: i}); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := table.Claim(t.Context(), claim("mine", noon)); err != nil || c.Attempts != 2 {
		t.Errorf("claim: attempt %d, %v", c.Attempts, err)
	}
	if _, err := table.ClaimResume(t.Context(), run, runstate.ResumeClaim{RequestID: "r", Now: noon, LeaseUntil: until}); err != nil {
		t.Errorf("resume: %v", err)
	}
}

func TestStaleEntriesAreDroppedOrPassedOver(t *testing.T) {
	table := openVia(t, nil, stopped{})
	ctx := t.Context()
	put := func(i item) {
		t.Helper()
		if _, err := table.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table.name, Item: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := story[0].do(t, table); err != nil {
		t.Fatal(err)
	}
	if _, err := table.FailRun(ctx, run, 1, fault.Failure{}, noon); err != nil {
		t.Fatal(err)
	}
	gone := contract.RunID("a_20261129T130000.000")
	for _, id := range []contract.RunID{run, gone} {
		put(activeItem(runstate.Active{RunID: id, Export: "a", CreatedAt: noon}))
	}
	put(whole(exportKey(runstate.Run{RunID: gone, Export: "a", CreatedAt: noon.Add(time.Hour)}), item{"run_id": text(gone)}))

	if list, err := table.ListRuns(ctx, "a", 1); err != nil || len(list) != 1 || list[0].RunID != run {
		t.Errorf("a run that is gone hides another: %v, %v", list, err)
	}
	for _, id := range []contract.RunID{run, gone} {
		if err := table.DropActive(ctx, id); err != nil {
			t.Error(err)
		}
	}
	if list, err := table.ListActive(ctx); err != nil || len(list) != 0 {
		t.Errorf("after dropping both: %v, %v", list, err)
	}
	if left := table.raw(t, runKey(gone)); left != nil {
		t.Errorf("dropping the entry of a run that is gone made %v", left)
	}
}

func TestAnItemOfTheWrongShapeIsAnError(t *testing.T) {
	table := openVia(t, nil, stopped{})
	for _, wrong := range []item{{"gen": text("1")}, {"enqueued": number(1)}, {"root": text("{")}, {"export": number(1)}} {
		i := whole(runKey(run), wrong)
		if _, err := table.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table.name, Item: i}); err != nil {
			t.Fatal(err)
		}
		if r, err := table.GetRun(t.Context(), run); err == nil {
			t.Errorf("%v was read as %+v", wrong, r)
		}
	}
}
