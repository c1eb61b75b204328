package verify

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

func TestOnlyWhatNobodyExplainsIsUntracked(t *testing.T) {
	for _, tc := range []struct {
		name string
		put  []string
		want []string
	}{
		{name: "an operator's file", put: []string{"report.xlsx"}, want: []string{"report.xlsx"}},
		{name: "a part that no attempt recorded", put: []string{"part-g000002-000001-0123456789abcdef.csv"}, want: []string{"part-g000002-000001-0123456789abcdef.csv"}},
		{name: "control objects of any run", put: []string{
			"_lapstrake/orders/cursor.json", "_lapstrake/orders/runs/r/plan.json", "_quarantine/r1/part-000001.csv", ".rivet_doctor_probe",
			"manifest-r1.json", "manifest-r2.json", "manifest-notes.json",
		}},
		{name: "names that only look like control objects", put: []string{"_SUCCESS.tmp", "part_SUCCESS", "x_lapstrake/a", "x/_quarantine/r1/_SUCCESS", "x/manifest-r1.json"},
			want: []string{"_SUCCESS.tmp", "part_SUCCESS", "x/_quarantine/r1/_SUCCESS", "x/manifest-r1.json", "x_lapstrake/a"}},
		{name: "another dataset in a folder below", put: []string{"cdc/manifest.json", "cdc/_SUCCESS", "cdc/cdc-1-000001.parquet", "cdc/a/b/deep.parquet"}},
		{name: "files beside another dataset", put: []string{"cdc/manifest.json", "cdc2/a.parquet", "a.parquet"}, want: []string{"a.parquet", "cdc2/a.parquet"}},
		{name: "a folder whose marker has no manifest", put: []string{"sub/_SUCCESS"}, want: []string{"sub/_SUCCESS"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := publish(t, memory.LikeGCS, 1)
			for _, key := range tc.put {
				p.put(key, []byte("x"))
			}
			r := p.verify(Options{})
			var got []string
			for _, f := range r.Verification.Failures {
				if f.Kind != contract.VerdictUntrackedObject || f.SizeBytes != 1 {
					t.Errorf("found %+v", f)
				}
				got = append(got, f.Key)
			}
			if d := cmp.Diff(tc.want, got); d != "" || r.Untracked != len(tc.want) || !r.Verification.Passed {
				t.Errorf("%d untracked, passed %v (-want +got):\n%s", r.Untracked, r.Verification.Passed, d)
			}
		})
	}
}

func TestPartsThatDoNotCountAreNeitherMissedNorUntracked(t *testing.T) {
	for _, status := range []contract.PartStatus{contract.PartSuperseded, contract.PartQuarantined} {
		p := publish(t, memory.LikeS3, 2)
		p.manifest.Parts[0].Status = status
		p.manifest.PartCount, p.manifest.RowCount = 1, 3
		p.republish()
		for _, there := range []bool{true, false} {
			if !there {
				p.remove(part1)
			}
			if v := p.verify(Options{}).Verification; v.PartsVerified != 1 || len(v.Failures) != 0 {
				t.Errorf("%s, there %v: %d verified, %v", status, there, v.PartsVerified, codes(v.Failures))
			}
		}
	}
}

func TestANeighbourWithALongerNameIsNotListed(t *testing.T) {
	p := publish(t, memory.LikeS3, 1)
	if _, err := p.bucket.Create(t.Context(), "p_archive/x.csv", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	if r := p.verify(Options{}); r.Untracked != 0 {
		t.Errorf("found %v", codes(r.Verification.Failures))
	}
}

func TestPartsOfSiblingsAreClaimed(t *testing.T) {
	sibling := func(p *prefix, id contract.RunID, g contract.Generation, change func(*contract.Manifest)) {
		m := p.run(id, g, 2)
		if change != nil {
			change(&m)
		}
		body, err := json.Marshal(m)
		if err != nil {
			p.t.Fatal(err)
		}
		p.put(contract.SidecarName(id), body)
	}
	foreign := []string{"UNTRACKED_OBJECT part-000001.csv", "UNTRACKED_OBJECT part-000002.csv"}
	for _, tc := range []struct {
		name   string
		change func(*contract.Manifest)
		want   []string
	}{
		{name: "an earlier success of the export"},
		{name: "the upstream's family of the export", change: func(m *contract.Manifest) { m.ExportName, m.ExportFamily = "orders__2026", "orders" }},
		{name: "a part that a repair has superseded", change: func(m *contract.Manifest) { m.Parts[0].Status = contract.PartSuperseded }},
		{name: "a run that did not succeed", change: func(m *contract.Manifest) { m.Status = contract.StatusFailed }, want: foreign},
		{name: "another export", change: func(m *contract.Manifest) { m.ExportName = "customers" }, want: foreign},
		{name: "a version of the future", change: func(m *contract.Manifest) { m.ManifestVersion = 2 }, want: foreign},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := publish(t, memory.LikeGCS, 2)
			sibling(p, "orders_20261128T120000.000", 1, tc.change)
			r := p.verify(Options{})
			if d := cmp.Diff(tc.want, codes(r.Verification.Failures)); d != "" || !r.Verification.Passed {
				t.Errorf("passed %v (-want +got):\n%s", r.Verification.Passed, d)
			}
			if r.OtherObjects != 2 {
				t.Errorf("a reader by glob reads %d objects too much, want 2", r.OtherObjects)
			}
		})
	}
}

// A prefix that a run every hour writes into has thousands of sidecars. Only
// the newest are read, and only if there is something to claim.
func TestYearsOfRunsAreNotReadAgain(t *testing.T) {
	sidecarsRead := func(p *prefix) (n int) {
		var r faulty.Recorder
		if _, err := Verify(t.Context(), faulty.Wrap(p, &r), Options{}); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Records() {
			if c.Op == "get" && contract.IsSidecarName(c.Key) {
				n++
			}
		}
		return n
	}
	p := publish(t, memory.LikeGCS, 1)
	p.manifest = p.run("orders_20261201T000000.000", 10_000, 1)
	p.republish()
	p.remove(part1)
	for i := range siblingLimit + 100 {
		id := contract.RunID(fmt.Sprintf("orders_20261130T%09d", i))
		m := p.run(id, contract.Generation(100+i), 1)
		p.put(contract.SidecarName(id), must(m.Encode()))
	}
	if n := sidecarsRead(p); n < siblingLimit || n > siblingLimit+16 {
		t.Errorf("%d sidecars were read, want about %d", n, siblingLimit)
	}
	p.put("part-g010000-000009.csv", []byte("x"))
	p.put("report.xlsx", []byte("x"))
	r := p.verify(Options{})
	if d := cmp.Diff([]string{"UNTRACKED_OBJECT part-g010000-000009.csv", "UNTRACKED_OBJECT report.xlsx"}, codes(r.Verification.Failures)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	alone := publish(t, memory.LikeGCS, 1)
	for i := range 100 {
		alone.put(fmt.Sprintf("manifest-r%03d.json", i), []byte("{}"))
	}
	if n := sidecarsRead(alone); n != 0 {
		t.Errorf("%d sidecars were read with nothing to claim", n)
	}
}

func TestAVerdictNamesABoundedNumberOfStrays(t *testing.T) {
	p := publish(t, memory.LikeGCS, 1)
	for i := range MaxUntracked + 5 {
		p.put(fmt.Sprintf("stray-%05d", i), nil)
	}
	if r := p.verify(Options{}); r.Untracked != MaxUntracked+5 || len(r.Verification.Failures) != MaxUntracked {
		t.Errorf("%d untracked, %d named", r.Untracked, len(r.Verification.Failures))
	}
}

// The upstream spreads change streams, split exports and an idle run over
// several manifests: there a missing part of a sibling is a missing part.
func TestSiblingsOfTheUpstreamsSharedPrefixesCount(t *testing.T) {
	window := &contract.SplitWindow{KeyColumn: "id"}
	for _, tc := range []struct {
		name   string
		change func(*contract.Manifest)
		want   []string
	}{
		{name: "a change stream", change: func(m *contract.Manifest) { m.Mode = "cdc" }, want: []string{"PART_MISSING part-000001.csv"}},
		{name: "a split export", change: func(m *contract.Manifest) { m.SplitWindow = window }, want: []string{"PART_MISSING part-000001.csv"}},
		{name: "an idle run", change: func(m *contract.Manifest) { m.Parts, m.PartCount, m.RowCount = nil, 0, 0 },
			want: []string{"PART_MISSING part-000001.csv", "UNTRACKED_OBJECT part-g000002-000001.csv", "UNTRACKED_OBJECT part-g000002-000002.csv"}},
		{name: "a batch run is whole in its own manifest"},
		{name: "so is an empty run of ours", change: func(m *contract.Manifest) {
			m.Generation = 3
			m.Parts, m.PartCount, m.RowCount = nil, 0, 0
		}, want: []string{"UNTRACKED_OBJECT part-g000002-000001.csv", "UNTRACKED_OBJECT part-g000002-000002.csv"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := publish(t, memory.LikeGCS, 2)
			m := p.run("orders_20261128T120000.000", 1, 2)
			p.put(contract.SidecarName(m.RunID), must(m.Encode()))
			p.remove("part-000001.csv")
			p.manifest.Generation = 0
			if tc.change != nil {
				tc.change(&p.manifest)
			}
			p.republish()
			if d := cmp.Diff(tc.want, codes(p.verify(Options{}).Verification.Failures)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func must(body []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return body
}
