package verify

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

func TestPartsFindsWhatIsMissingOrDifferent(t *testing.T) {
	for _, tc := range []struct {
		name             string
		like             destination.Capabilities
		o                PartsOptions
		damage           func(p *prefix)
		want             []string
		verified, proven int
	}{
		{name: "all there", like: memory.LikeS3, verified: 2},
		{name: "all there, content asked for", like: memory.LikeS3, o: PartsOptions{Content: true}, verified: 2, proven: 2},
		{name: "all there, content listed anyway", like: memory.LikeGCS, verified: 2, proven: 2},
		{name: "content cannot be told", like: likeDisk, o: PartsOptions{Content: true}, verified: 2, want: []string{"CONTENT_UNMET"}},
		{name: "one gone", like: memory.LikeS3, damage: func(p *prefix) { p.remove(part1) }, verified: 1, want: []string{"PART_MISSING " + part1}},
		{name: "one cut", like: memory.LikeS3, damage: func(p *prefix) { p.edit(part1, func(b []byte) []byte { return b[1:] }) }, verified: 1, want: []string{"PART_SIZE_MISMATCH " + part1}},
		{name: "one with other bytes, not asked for", like: memory.LikeS3, damage: func(p *prefix) { p.edit(part1, flip) }, verified: 2},
		{name: "one with other bytes", like: memory.LikeS3, o: PartsOptions{Content: true}, damage: func(p *prefix) { p.edit(part1, flip) }, verified: 1, proven: 1,
			want: []string{"PART_CHECKSUM_MISMATCH " + part1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := publish(t, tc.like, 2)
			if tc.damage != nil {
				tc.damage(p)
			}
			r, err := Parts(t.Context(), p, p.manifest.Parts, tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, codes(r.Failures)); d != "" || r.Verified != tc.verified || r.Proven != tc.proven || r.Intact() != (tc.want == nil) {
				t.Errorf("%d verified, %d proven (-want +got):\n%s", r.Verified, r.Proven, d)
			}
		})
	}
}

func TestPartsListsTheirGenerationsOnly(t *testing.T) {
	for _, tc := range []struct {
		name  string
		runs  []contract.Generation
		calls []string
	}{
		{name: "of one run", runs: nil, calls: []string{"list part-g000002-"}},
		{name: "of a run and its resume", runs: []contract.Generation{3}, calls: []string{"list part-g000002-", "list part-g000003-"}},
		{name: "with plain names, whose listing shows them all", runs: []contract.Generation{1, 3}, calls: []string{"list part-"}},
	} {
		p := publish(t, memory.LikeGCS, 3)
		parts := slices.Clone(p.manifest.Parts)
		for _, g := range tc.runs {
			parts = append(parts, p.run("r", g, 2).Parts...)
		}
		for i := range 50 {
			p.put(fmt.Sprintf("part-g%06d-000001.csv", 100+i), []byte("x"))
		}
		body := []byte("id\n1\n")
		for _, name := range []string{"orders_20261129_131843_chunk0_e990e4b57559bd75.csv", "col=a/part-g000002-000001.csv"} {
			p.put(name, body)
			parts = append(parts, contract.Part{PartID: len(parts) + 1, Path: name, SizeBytes: int64(len(body)), Status: contract.PartCommitted})
		}
		parts = append(parts, contract.Part{PartID: 99, Path: "../removed", Status: contract.PartCommitted})

		var rec faulty.Recorder
		r, err := Parts(t.Context(), faulty.Wrap(p, &rec), parts, PartsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"PART_MISSING ../removed"}, codes(r.Failures)); d != "" || r.Verified != len(parts)-1 {
			t.Errorf("%s: %d of %d verified (-want +got):\n%s", tc.name, r.Verified, len(parts), d)
		}
		calls := rec.Calls()
		slices.Sort(calls)
		want := append([]string{"head orders_20261129_131843_chunk0_e990e4b57559bd75.csv", "list col=a/part-g000002-"}, tc.calls...)
		if d := cmp.Diff(want, calls); d != "" {
			t.Errorf("%s: requests (-want +got):\n%s", tc.name, d)
		}
	}
}

func TestPartsReportsAStoreThatDoesNotAnswer(t *testing.T) {
	p := publish(t, memory.LikeS3, 3)
	for n := 1; ; n++ {
		store := faulty.Wrap(p, faulty.Transient{Call: n})
		r, err := Parts(t.Context(), store, p.manifest.Parts, PartsOptions{Content: true})
		if store.Calls() < n {
			if n < 4 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n-1)
			}
			break
		}
		if !errors.Is(err, destination.ErrUnavailable) || r.Verified != 0 {
			t.Errorf("call %d failed: %v, %+v", n, err, r)
		}
	}
}
