package commit

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// A resume at generation 3 looks at a prefix with everything in it that can be.
func TestInspect(t *testing.T) {
	ctx := t.Context()
	store := memory.New("memory://b", memory.LikeS3)
	put := func(name, body string) runstate.PartRecord {
		t.Helper()
		m := destination.Meta{Fingerprint: contract.FingerprintOf([]byte(body)), MD5: contract.MD5Base64([]byte(body))}
		if _, err := store.Create(ctx, name, []byte(body), m); err != nil {
			t.Fatal(err)
		}
		return runstate.PartRecord{Path: name, SizeBytes: int64(len(body)), Fingerprint: m.Fingerprint, MD5: m.MD5}
	}
	intact := put("part-g000002-000001.csv", "rows")
	damaged := put("part-g000002-000002.csv", "rows")
	damaged.Fingerprint, damaged.MD5 = contract.FingerprintOf([]byte("rowz")), contract.MD5Base64([]byte("rowz"))
	missing := runstate.PartRecord{Path: "part-g000002-000003.csv", SizeBytes: 4}
	put("part-g000002-000004.csv", "left by a killed attempt")
	put("part-g000003-000005.csv", "put by an attempt that works now")
	put("part-000009.csv", "of generation 1, which another manifest lists")
	put("report.xlsx", "an operator's")
	put("manifest-notes.json", "an operator's")
	put(".rivet_doctor_probe", "")
	put("_SUCCESS", "")
	put("nested/part-g000002-000001.csv", "another dataset's")
	put("_quarantine/old/part-g000001-000001.csv", "")
	old := tombstone("older")
	old.Status, old.RowCount, old.PartCount = contract.StatusSuccess, 1, 1
	old.Parts = []contract.Part{{PartID: 1, Path: "part-000009.csv", Rows: 1, SizeBytes: 45, Status: contract.PartCommitted}}
	body, err := old.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put(contract.SidecarName("older"), string(body))

	found, err := Inspect(ctx, store, "r1", 1, 3, []runstate.PartRecord{intact, damaged, missing}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var repair, moved []string
	for _, p := range found.Repair {
		repair = append(repair, p.Path)
	}
	for _, m := range found.Moves {
		moved = append(moved, m.From)
	}
	if got, want := strings.Join(repair, " "), "part-g000002-000002.csv part-g000002-000003.csv"; got != want {
		t.Errorf("to be repaired: %s, want %s", got, want)
	}
	if got, want := strings.Join(moved, " "), "part-g000002-000002.csv part-g000002-000004.csv report.xlsx"; got != want {
		t.Errorf("to be moved: %s, want %s", got, want)
	}
	promised, err := Inspect(ctx, store, "r1", 1, 3, []runstate.PartRecord{intact, damaged, missing}, map[string]bool{damaged.Path: true, "part-g000002-000004.csv": true})
	if err != nil || len(promised.Repair) != 2 || len(promised.Moves) != 1 || promised.Moves[0].From != "report.xlsx" {
		t.Errorf("what a generation may commit: to be repaired %+v, to be moved %+v (%v)", promised.Repair, promised.Moves, err)
	}
	again, err := Inspect(ctx, store, "r1", 1, 3, []runstate.PartRecord{intact, damaged, missing}, nil)
	if err != nil || len(again.Moves) != len(found.Moves) {
		t.Fatalf("the second look decides otherwise (M8): %+v (%v)", again, err)
	}
	Quarantine(ctx, store, found.Moves, func(m Move, err error) {
		if err != nil {
			t.Errorf("move %s: %v", m.From, err)
		}
	})
	if got, _, err := store.Get(ctx, "_quarantine/r1/report.xlsx", 1<<10); err != nil || string(got) != "an operator's" {
		t.Errorf("the operator's file: %q (%v): nothing is ever lost (M9)", got, err)
	}
}
