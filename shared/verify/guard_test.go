package verify

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// A part that goes between the listing and the question for its checksum is
// missing, whatever the listing said.
func TestAPartThatGoesAfterTheListingIsMissing(t *testing.T) {
	p := publish(t, memory.LikeS3, 2)
	store := faulty.Wrap(p, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == "head" && c.Key == part1 {
			p.remove(part1)
		}
		return perform()
	}))
	r, err := Verify(t.Context(), store, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"PART_MISSING " + part1}, codes(r.Verification.Failures)); d != "" || r.Verification.Passed {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A part that has the recorded bytes and cannot be read is no part: its rows are
// nobody's.
func TestAPartThatCannotBeReadFails(t *testing.T) {
	p := publish(t, memory.LikeS3, 1)
	body := []byte("id,note\n1,\"cut")
	p.put(part1, body)
	part := &p.manifest.Parts[0]
	part.SizeBytes, part.ContentFingerprint, part.ContentMD5 = int64(len(body)), contract.FingerprintOf(body), contract.MD5Base64(body)
	p.republish()
	r, err := Verify(t.Context(), p, Options{Depth: Full})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verification.Passed || r.Verification.PartsFailed != 1 || codes(r.Verification.Failures)[0] != "PART_ROW_COUNT" {
		t.Errorf("passed %t: %v", r.Verification.Passed, codes(r.Verification.Failures))
	}
}

// A manifest can name a part that no store has: it is a missing one, and no
// failure of the store.
func TestPartsOfImpossibleNamesAreMissing(t *testing.T) {
	p := publish(t, memory.LikeS3, 1)
	for _, name := range []string{"../x", "/abs", "a//b", "a\x00b"} {
		r, err := Parts(t.Context(), p, []contract.Part{{PartID: 1, Path: name, SizeBytes: 1, Status: contract.PartCommitted}}, PartsOptions{})
		if d := cmp.Diff([]string{"PART_MISSING " + name}, codes(r.Failures)); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got):\n%s", name, err, d)
		}
	}
}
