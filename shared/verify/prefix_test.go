package verify

import (
	"fmt"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// likeDisk is a store that vouches for nothing but sizes.
var likeDisk = destination.Capabilities{CommitProtocol: "Atomic"}

// prefix is the folder p of a bucket that a run has published into.
type prefix struct {
	destination.Store // at the prefix
	t                 *testing.T
	bucket            *memory.Store
	manifest          contract.Manifest
}

// publish returns a prefix with the trio and CSV parts of three rows each.
func publish(t *testing.T, like destination.Capabilities, parts int) *prefix {
	bucket := memory.New("memory://b", like)
	p := &prefix{Store: destination.Prefixed(bucket, "p"), t: t, bucket: bucket}
	p.manifest = p.run("orders_20261129T120000.000", 2, parts)
	p.put(contract.SidecarName(p.manifest.RunID), p.encode())
	p.republish()
	return p
}

// run stores the parts of a run and returns its manifest.
func (p *prefix) run(id contract.RunID, g contract.Generation, parts int) contract.Manifest {
	p.t.Helper()
	at := contract.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	m := contract.Manifest{
		ManifestVersion: contract.ManifestVersion, RunID: id, ExportName: "orders", Mode: "batch", StartedAt: at, FinishedAt: at,
		Status: contract.StatusSuccess, Source: contract.Source{Engine: "postgres"}, Destination: contract.Destination{Kind: "memory", URI: "memory://b/p"},
		Format: "csv", Compression: "none", PartCount: parts, Generation: g, Parts: []contract.Part{},
	}
	naming := contract.PartNaming{Generation: g, Plain: g == 1, Ext: "csv"}
	for i := range parts {
		body := fmt.Appendf(nil, "id,note\n%d,\"a\nb\"\n%d,\"say \"\"\n\"\"\"\n%d,\n", 3*i, 3*i+1, 3*i+2)
		part := contract.Part{
			PartID: i + 1, Path: naming.Name(contract.BaseTaskID(i), 0), Rows: 3, SizeBytes: int64(len(body)),
			ContentFingerprint: contract.FingerprintOf(body), ContentMD5: contract.MD5Base64(body), Status: contract.PartCommitted,
		}
		p.put(part.Path, body)
		m.Parts = append(m.Parts, part)
		m.RowCount += part.Rows
	}
	return m
}

func (p *prefix) encode() []byte {
	p.t.Helper()
	body, err := p.manifest.Encode()
	if err != nil {
		p.t.Fatal(err)
	}
	return body
}

// republish writes the canonical pair for p.manifest as it is now.
func (p *prefix) republish() {
	p.t.Helper()
	body := p.encode()
	p.put(contract.ManifestName, body)
	p.put(contract.SuccessName, contract.SuccessBody(body))
}

// put stores body at key, whatever is there.
func (p *prefix) put(key string, body []byte) {
	p.t.Helper()
	o, _ := p.Head(p.t.Context(), key)
	if _, err := p.Replace(p.t.Context(), key, o.Version, body, destination.Meta{}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *prefix) get(key string) []byte {
	p.t.Helper()
	body, _, err := p.Get(p.t.Context(), key, 1<<20)
	if err != nil {
		p.t.Fatal(err)
	}
	return body
}

// edit changes the bytes at key.
func (p *prefix) edit(key string, change func([]byte) []byte) { p.put(key, change(p.get(key))) }

// remove takes the object at key out of the prefix.
func (p *prefix) remove(key string) {
	p.t.Helper()
	o, err := p.bucket.Head(p.t.Context(), "p/"+key)
	if err == nil {
		err = p.bucket.Move(p.t.Context(), "p/"+key, "removed/"+key, o.Version)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *prefix) verify(o Options) Result {
	p.t.Helper()
	r, err := Verify(p.t.Context(), p, o)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// codes returns the findings of r as "CODE subject", in order.
func codes(failures []contract.Failure) []string {
	var out []string
	for _, f := range failures {
		s := f.Kind.Code()[len("RIVET_VERIFY_"):]
		if subject := f.Path + f.Key; subject != "" {
			s += " " + subject
		}
		out = append(out, s)
	}
	return out
}
