package prove

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/verify"
)

// run proves one run: its record is the one that the manifest names, the record
// partitions what there was to read, and the counts agree.
func (p *prover) run(ctx context.Context, at published) Run {
	m := at.manifest
	r := Run{RunID: m.RunID, Generation: m.Generation, Prefix: at.prefix, Parts: m.PartCount, Rows: m.RowCount}
	if x := m.Source.Extraction; x != nil {
		r.Strategy, r.Consistency = x.Strategy, x.Consistency
	}
	if w := m.Position; w != nil {
		r.Window = windowOf(*w)
	}
	var f findings
	if err := m.Check(); err != nil {
		f.find(manifestWrong, "", "%v", err)
	}
	if want := contract.SidecarName(m.RunID); at.name != want {
		f.find(manifestWrong, "", "%s has the manifest of run %s, whose name is %s", at.name, m.RunID, want)
	}
	if record, ok := p.record(ctx, &f, m); ok {
		for _, k := range record.Key {
			r.Key = append(r.Key, k.Expression())
		}
		for _, t := range record.Tasks {
			switch {
			case !t.Live():
				r.Superseded++
				continue
			case t.ReadPosition != "":
				r.ReadPositions++
			}
			r.Tasks++
		}
		partition(&f, record)
		lineage(&f, record.Tasks)
		counts(&f, m, record)
		window(&f, m, record)
	}
	p.parts(ctx, &f, at)
	r.Findings = f.all()
	return r
}

// record reads the record that a manifest names, if it is that of its run and
// generation, byte for byte.
func (p *prover) record(ctx context.Context, f *findings, m contract.Manifest) (contract.RunRecord, bool) {
	ref := m.RunRecord
	if ref == nil {
		f.find(noRecord, "", "the manifest names no run record: its writer keeps none, so nothing says which rows its tasks have read")
		return contract.RunRecord{}, false
	}
	if want := contract.RecordKey(m.ExportName, m.RunID, m.Generation); ref.Key != want {
		f.find(recordOfOther, "", "the manifest names %s, the record of its generation is %s", ref.Key, want)
		return contract.RunRecord{}, false
	}
	body, _, err := p.root.Get(ctx, ref.Key, contract.MaxRecordBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		f.find(recordMissing, "", "%s is not there", ref.Key)
		return contract.RunRecord{}, false
	case err != nil:
		f.unanswered("read the run record", err)
		return contract.RunRecord{}, false
	}
	if got := contract.FingerprintOf(body); got != ref.Fingerprint {
		f.find(recordChanged, "", "%s has fingerprint %s, the manifest says %s", ref.Key, got, ref.Fingerprint)
		return contract.RunRecord{}, false
	}
	record, err := contract.DecodeRunRecord(body)
	switch {
	case err != nil:
		f.find(recordUnreadable, "", "%s: %v", ref.Key, err)
		return record, false
	case record.RunID != m.RunID || record.Export != m.ExportName || record.Generation != m.Generation:
		f.find(recordOfOther, "", "%s is the record of run %s at generation %d, the manifest is of run %s at generation %d", ref.Key, record.RunID, record.Generation, m.RunID, m.Generation)
		return record, false
	case record.RevokedBy != 0:
		f.find(recordRevoked, "", "%s says that generation %d was revoked by generation %d, and yet it has committed", ref.Key, record.Generation, record.RevokedBy)
		return record, false
	}
	return record, true
}

// parts compares the parts of a manifest with what is stored.
func (p *prover) parts(ctx context.Context, f *findings, at published) {
	prefix, committed := destination.Prefixed(p.root, at.prefix), at.manifest.Committed()
	found, err := verify.Parts(ctx, prefix, committed, verify.PartsOptions{})
	if err != nil {
		f.unanswered("look for the parts", err)
		return
	}
	failures := found.Failures
	if p.o.Deep && found.Intact() {
		for _, part := range committed {
			wrong, _, err := verify.ReadPart(ctx, prefix, at.manifest.Format, part)
			if err != nil {
				f.unanswered("read part "+part.Path, err)
				return
			}
			failures = append(failures, wrong...)
		}
	}
	for _, failure := range failures {
		facts, err := failure.MarshalJSON()
		if err != nil {
			facts = []byte(failure.Kind)
		}
		f.add(Finding{Code: fault.Code(failure.Kind.Code()), Class: failure.Kind.Class(), Detail: string(facts)})
	}
}
