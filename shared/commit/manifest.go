package commit

import (
	"path"
	"sort"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Frozen is what a run's manifest and record are made of: its plan and its
// table as BeginFinalize froze it. Equal inputs give equal bytes, whoever asks
// and when (D10).
type Frozen struct {
	Plan       chunkplan.Plan
	Generation contract.Generation
	StartedAt  time.Time // of the run
	FrozenAt   time.Time // of the first BeginFinalize
	// Chunks are all chunks of the run, completed or superseded.
	Chunks []runstate.Chunk
}

// live returns the chunks that count, in the order of parts: by planned task,
// then by split.
func (f Frozen) live() []runstate.Chunk {
	var out []runstate.Chunk
	for _, c := range f.Chunks {
		if c.Live() {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, _ := out[i].ID.Base()
		b, _ := out[j].ID.Base()
		if a != b {
			return a < b
		}
		return out[i].ID < out[j].ID
	})
	return out
}

// Manifest returns the success manifest, with a reference to the run record.
func (f Frozen) Manifest(record contract.RunRecordRef) contract.Manifest {
	m := header(f.Plan.RunID, f.Plan.Export, f.Plan.Engine)
	m.Status = contract.StatusSuccess
	m.StartedAt = contract.NewTime(f.StartedAt)
	m.FinishedAt = contract.NewTime(f.FrozenAt)
	m.SchemaFingerprint = f.Plan.SchemaFingerprint
	m.Source.Extraction = f.extraction()
	m.Destination.URI = joinURI(f.Plan.Export.Destination.URI, f.Plan.Prefix)
	m.Generation = f.Generation
	m.Control = controlPath(f.Plan.Prefix)
	m.RunRecord = &record
	m.Position = f.Window()
	for _, c := range f.live() {
		for _, p := range c.Parts {
			m.Parts = append(m.Parts, contract.Part{
				PartID: len(m.Parts) + 1, Path: p.Path, Rows: p.Rows, SizeBytes: p.SizeBytes,
				ContentFingerprint: p.Fingerprint, ContentMD5: p.MD5, Status: contract.PartCommitted,
			})
			m.RowCount += p.Rows
		}
	}
	m.PartCount = len(m.Parts)
	return m
}

// Rows returns how many rows the run delivered, by its tasks' own counts.
func (f Frozen) Rows() int64 {
	var n int64
	for _, c := range f.live() {
		n += c.Rows
	}
	return n
}

// Record returns the run record: a pure function of plan and table, so two
// finalizers of one generation write equal bytes.
func (f Frozen) Record(planFingerprint contract.Fingerprint) ([]byte, error) {
	export := contract.ExportName(f.Plan.Export.Name)
	r := contract.RunRecord{
		RecordVersion: contract.RecordVersion, RunID: f.Plan.RunID, Export: export, Generation: f.Generation,
		Plan: contract.RunRecordRef{Key: contract.PlanKey(export, f.Plan.RunID), Fingerprint: planFingerprint},
		Key:  f.Plan.Key, Window: f.Window(), Within: f.Plan.Within, Tasks: []contract.TaskRecord{},
	}
	chunks := append([]runstate.Chunk(nil), f.Chunks...)
	sort.SliceStable(chunks, func(i, j int) bool { return chunks[i].ID < chunks[j].ID })
	for _, c := range chunks {
		t := contract.TaskRecord{
			Task: c.ID, Predicate: contract.PredicateOf(c.Range), SplitOf: c.SplitOf, RepairOf: c.RepairOf, SupersededBy: c.SupersededBy,
			Rows: c.Rows, Parts: []string{}, ReadPosition: c.ReadPosition, EndKeys: len(c.HiKeys), RepeatedRows: c.Repeated,
		}
		for _, p := range c.Parts {
			t.Parts = append(t.Parts, p.Path)
		}
		r.Tasks = append(r.Tasks, t)
	}
	return r.Encode()
}

// TombstoneOf returns what the tombstone of a run of this export says of source
// and destination; Seal fills in the rest.
func TombstoneOf(run contract.RunID, export exportconfig.Export, engine string, now time.Time) contract.Manifest {
	m := header(run, export, engine)
	m.StartedAt, m.FinishedAt = contract.NewTime(now), contract.NewTime(now)
	m.Destination.URI = export.Destination.URI
	return m
}

func header(run contract.RunID, export exportconfig.Export, engine string) contract.Manifest {
	m := contract.Manifest{
		ManifestVersion: contract.ManifestVersion,
		RunID:           run,
		ExportName:      contract.ExportName(export.Name),
		ExportFamily:    export.Name,
		Mode:            "batch",
		Source:          contract.Source{Engine: engine},
		Destination:     contract.Destination{Kind: export.Destination.Kind},
		Format:          export.Format,
		Compression:     export.Compression,
		Parts:           []contract.Part{},
	}
	m.Source.Schema, m.Source.Table = logicalName(export)
	return m
}

// logicalName is the declared table, split at its first dot, or else a dotted
// export name (reference §5.4).
func logicalName(export exportconfig.Export) (schema, table *string) {
	name := export.Table
	if name == "" {
		if !strings.Contains(export.Name, ".") {
			return nil, nil
		}
		name = export.Name
	}
	if before, after, dotted := strings.Cut(name, "."); dotted {
		return &before, &after
	}
	return nil, &name
}

// controlPath is the relative path from a prefix to its root.
func controlPath(prefix string) string {
	depth := strings.Count(strings.Trim(prefix, "/"), "/")
	if strings.Trim(prefix, "/") == "" {
		return "."
	}
	return strings.TrimSuffix(strings.Repeat("../", depth+1), "/")
}

func joinURI(root, prefix string) string {
	if prefix == "" {
		return root
	}
	scheme, rest, found := strings.Cut(root, "://")
	if !found {
		return path.Join(root, prefix)
	}
	return scheme + "://" + path.Join(rest, prefix)
}
