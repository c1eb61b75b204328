package dynamodb

import (
	"maps"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// whole is an item with these attributes; those without a value are left out.
func whole(k key, attributes item) item {
	maps.DeleteFunc(attributes, func(_ string, v value) bool { return v == nil })
	maps.Copy(attributes, k.item())
	return attributes
}

func runItem(r runstate.Run) item {
	return whole(runKey(r.RunID), item{
		"run_id": text(r.RunID), "export": text(r.Export), "trigger_id": text(r.TriggerID), "creation": optText(r.Creation),
		"status": text(r.Status), "gen": optNumber(r.Gen), "intent": text(r.Intent), "trigger": optText(string(r.Trigger)),
		"root": document(r.Root), "prefix": optText(r.Prefix), "queue": optText(r.Queue),
		"plan_fp": optText(r.PlanFingerprint), "task_count": optNumber(r.TaskCount), "shards": optNumber(r.Shards),
		"fanin_k": optNumber(r.FaninK), "max_attempts": optNumber(r.MaxAttempts),
		"lease_until": optTime(r.LeaseUntil), "enqueued": optFlag(r.Enqueued), "finalize_started_at": optTime(r.FinalizeStartedAt),
		"outcome": optDocument(r.Outcome), "verdict": optText(r.Verdict), "notified": optFlag(r.Notified),
		"callback": optDocument(r.Callback), "error": optDocument(r.Error),
		"created_at": optTime(r.CreatedAt), "resumed_at": optTime(r.ResumedAt), "finished_at": optTime(r.FinishedAt),
	})
}

func readRun(from item) (runstate.Run, error) {
	r := reader{item: from}
	run := runstate.Run{
		RunID: contract.RunID(r.text("run_id")), Export: contract.ExportName(r.text("export")), TriggerID: r.text("trigger_id"),
		Creation: r.text("creation"), Status: runstate.RunStatus(r.text("status")), Gen: contract.Generation(r.number("gen")),
		Intent: wire.Action(r.text("intent")), Prefix: r.text("prefix"), Queue: r.text("queue"),
		PlanFingerprint: contract.Fingerprint(r.text("plan_fp")), TaskCount: int(r.number("task_count")), Shards: int(r.number("shards")),
		FaninK: int(r.number("fanin_k")), MaxAttempts: int(r.number("max_attempts")),
		LeaseUntil: r.time("lease_until"), Enqueued: r.flag("enqueued"), FinalizeStartedAt: r.time("finalize_started_at"),
		Verdict: r.text("verdict"), Notified: r.flag("notified"), CreatedAt: r.time("created_at"), ResumedAt: r.time("resumed_at"), FinishedAt: r.time("finished_at"),
	}
	if trigger := r.text("trigger"); trigger != "" {
		run.Trigger = []byte(trigger)
	}
	r.document("root", &run.Root)
	r.document("outcome", &run.Outcome)
	r.document("callback", &run.Callback)
	r.document("error", &run.Error)
	return run, r.err
}

func (t *Table) chunkItem(c runstate.Chunk) item {
	return whole(t.chunkKey(c.RunID, c.ID), item{
		"run_id": text(c.RunID), "id": text(c.ID), "status": text(c.Status), "gen": number(c.Gen), "range": document(c.Range),
		"attempts": number(c.Attempts), "max_attempts": number(c.MaxAttempts),
		"split_of": optText(c.SplitOf), "repair_of": optText(c.RepairOf),
		"created_at": optTime(c.CreatedAt), "changed_at": optTime(c.ChangedAt), "ttl": t.ttl(KeepItems),
	})
}

func readChunk(from item) (runstate.Chunk, error) {
	r := reader{item: from}
	c := runstate.Chunk{
		RunID: contract.RunID(r.text("run_id")), ID: contract.TaskID(r.text("id")), Status: runstate.ChunkStatus(r.text("status")),
		Gen: contract.Generation(r.number("gen")), Attempts: int(r.number("attempts")), MaxAttempts: int(r.number("max_attempts")),
		LeaseToken: r.text("lease_token"), LeaseUntil: r.time("lease_until"), Worker: r.text("worker"),
		Result: runstate.Result{
			Rows: r.number("rows"), Bytes: r.number("bytes"), ReadPosition: r.text("read_position"), Repeated: r.number("repeated"),
			StartedAt: r.time("started_at"),
		},
		SplitOf: contract.TaskID(r.text("split_of")), RepairOf: contract.TaskID(r.text("repair_of")),
		SplitInto: contract.TaskID(r.text("split_into")), SupersededBy: contract.TaskID(r.text("superseded_by")),
		CreatedAt: r.time("created_at"), ChangedAt: r.time("changed_at"),
	}
	r.document("range", &c.Range)
	r.document("parts", &c.Parts)
	r.document("hi_keys", &c.HiKeys)
	r.document("error", &c.Error)
	return c, r.err
}

func activeItem(a runstate.Active) item {
	return whole(activeKey(a.RunID), item{"run_id": text(a.RunID), "export": text(a.Export), "created_at": optTime(a.CreatedAt)})
}

func readActive(from item) (runstate.Active, error) {
	r := reader{item: from}
	a := runstate.Active{RunID: contract.RunID(r.text("run_id")), Export: contract.ExportName(r.text("export")), CreatedAt: r.time("created_at")}
	return a, r.err
}

func (t *Table) faninItem(f runstate.Fanin) item {
	attributes := item{"run_id": text(f.RunID), "shard": number(f.Shard), "expected": number(f.Expected), "ttl": t.ttl(KeepItems)}
	if len(f.Done) > 0 { // there is no empty set
		attributes["done"] = members(f.Done...)
	}
	return whole(faninKey(f.RunID, f.Shard), attributes)
}

func readFanin(from item) (runstate.Fanin, error) {
	r := reader{item: from}
	f := runstate.Fanin{RunID: contract.RunID(r.text("run_id")), Shard: int(r.number("shard")), Expected: int(r.number("expected")), Done: r.members("done")}
	return f, r.err
}
