package report

import (
	"fmt"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

var begin = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func seconds(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }

// crashed is a run of twelve tasks by four workers that was killed in the
// third wave and resumed: the demo.
func crashed() Input {
	run := runstate.Run{
		RunID: "public.orders_20261129T120000.000", Export: "public.orders", Status: runstate.RunSucceeded, Gen: 2, Verdict: "passed",
		Root: wire.Location{Kind: "local", URI: "file:///data/exports/orders"}, Prefix: "2026-11-29/", TaskCount: 12,
		CreatedAt: begin, FinishedAt: seconds(9.4),
		Outcome: &runstate.RunOutcome{ManifestFingerprint: "xxh3:0123456789abcdef", Rows: 300_000, Bytes: 12 * 1_340_211, Parts: 12},
	}
	plan := chunkplan.Plan{
		PlanVersion: chunkplan.PlanVersion, RunID: run.RunID, Engine: "postgres", Schema: "public", Table: "orders", Strategy: "chunked", Consistency: "per_task",
		Export: exportconfig.Export{Name: "public.orders", Mode: "chunked", Format: "parquet", Compression: "zstd",
			Diagnostics: []exportconfig.Diagnostic{{Code: "GLOB_READERS_SEE_OLD_PARTS", Message: "the prefix is shared by all runs: read it through the manifest, or put {run_id} into the path"}}},
		Key: []keyspace.Column{{Name: "id", Native: "bigint"}}, SchemaFingerprint: "xxh3:7a613d5ef3ca2f8c",
		Columns: []rowtype.Column{
			{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "int8"},
			{Name: "amount", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 18, Scale: 2}, Native: "numeric(18,2)"},
			{Name: "created_at", Type: rowtype.Type{Kind: rowtype.Timestamp, UTC: true}, Native: "timestamptz"},
		},
	}
	m := contract.Manifest{
		ManifestVersion: 1, RunID: run.RunID, ExportName: run.Export, Mode: "batch", StartedAt: contract.NewTime(begin), FinishedAt: contract.NewTime(seconds(9.2)),
		Status: contract.StatusSuccess, Format: "parquet", Compression: "zstd", Generation: 2, Control: "..",
	}
	var chunks []runstate.Chunk
	for i := range 12 {
		wave, slot := i/4, i%4
		from := 0.2 + float64(wave)*1.1 + float64(slot)*0.06
		if wave == 2 {
			from = 6.3 + float64(slot)*0.08 // after the crash
		}
		to := from + 0.82 + float64((i*7)%5)*0.05
		c := runstate.Chunk{
			RunID: run.RunID, ID: contract.BaseTaskID(i), Status: runstate.ChunkCompleted, Gen: 1, Attempts: 1, MaxAttempts: 3,
			Worker: fmt.Sprintf("worker-%d", slot+1), ChangedAt: seconds(to),
			Result: runstate.Result{Rows: 25_000, Bytes: 1_340_211, StartedAt: seconds(from)},
		}
		if wave == 2 {
			c.Gen, c.Attempts = 2, 2
		}
		path := contract.PartNaming{Generation: c.Gen, Plain: c.Gen == 1, Ext: "parquet"}.Name(c.ID, 0)
		c.Parts = []runstate.PartRecord{{Path: path, Rows: c.Rows, SizeBytes: c.Bytes, Fingerprint: contract.FingerprintOf([]byte(path))}}
		chunks = append(chunks, c)
		m.Parts = append(m.Parts, contract.Part{PartID: i + 1, Path: path, Rows: c.Rows, SizeBytes: c.Bytes, ContentFingerprint: c.Parts[0].Fingerprint, Status: contract.PartCommitted})
		m.RowCount += c.Rows
		m.PartCount++
	}
	v := contract.ManifestVerification{ManifestFound: true, PartsVerified: 12, PartsMD5Verified: 12, SuccessMarkerConsistent: true, ManifestSelfConsistent: true, DepthLevel: "sample"}
	v.Add(contract.UntrackedObject("part-000009-11aa22bb33cc44dd.parquet", 1_340_211))
	return Input{Run: run, Plan: plan, Chunks: chunks, Manifest: &m, Verification: &v}
}

// failed is a run that ended by a permanent error in a split task.
func failed() Input {
	in := crashed()
	in.Run.Status, in.Run.Outcome, in.Run.Verdict = runstate.RunFailed, nil, ""
	in.Run.Error = &fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_TYPE_VALUE_UNREPRESENTABLE", Message: `column "amount": NaN cannot be a decimal(18,2); nothing was published. Cast it in the query`}
	in.Manifest, in.Verification = nil, nil
	in.Chunks[5].SplitInto = "000005.s01"
	in.Chunks = append(in.Chunks[:8:8], runstate.Chunk{
		RunID: in.Run.RunID, ID: "000005.s01", SplitOf: "000005", Status: runstate.ChunkFailed, Gen: 1, Attempts: 3, MaxAttempts: 3, Worker: "worker-2",
		Error: in.Run.Error, ChangedAt: seconds(3.4), Result: runstate.Result{StartedAt: seconds(2.9)},
	}, runstate.Chunk{RunID: in.Run.RunID, ID: "000008", Status: runstate.ChunkPending, Gen: 1, MaxAttempts: 3})
	return in
}
