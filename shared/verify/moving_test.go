package verify

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// Another run publishes at any point of the verification: the verdict is on one
// pair or the other, never a failure that is neither's.
func TestAPairThatIsReplacedMeanwhileIsReadAgain(t *testing.T) {
	for _, tc := range []struct {
		name  string
		empty bool // nothing is published before
		calls int
	}{
		{name: "by a newer run", calls: 5},
		{name: "by the first run", empty: true, calls: 2},
	} {
		for n := 1; ; n++ {
			p := publish(t, memory.LikeS3, 2)
			if tc.empty {
				p.remove("manifest.json")
				p.remove("_SUCCESS")
			}
			done := false
			store := faulty.Wrap(p, faulty.Interleave{Call: n, Do: func() {
				done = true
				p.manifest = p.run("orders_20261130T120000.000", 3, 2)
				p.put(contract.SidecarName(p.manifest.RunID), p.encode())
				p.republish()
			}})
			r, err := Verify(t.Context(), store, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !done {
				if n <= tc.calls {
					t.Fatalf("only %d calls seen: the test no longer tests anything", n-1)
				}
				break
			}
			if v := r.Verification; !v.Passed && !v.LegacyRun {
				t.Errorf("replaced %s before call %d: %s %v", tc.name, n, r.Marker, codes(v.Failures))
			}
		}
	}
}

func TestAStoreThatDoesNotAnswerIsNoVerdictOnTheData(t *testing.T) {
	seen := make(map[string]bool)
	for n := 1; ; n++ {
		p := publish(t, memory.LikeS3, 2)
		p.put("stray", []byte("x"))
		p.put("manifest-other.json", p.encode())
		store := faulty.Wrap(p, faulty.Transient{Call: n})
		r, err := Verify(t.Context(), store, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if store.Calls() < n {
			break
		}
		if r.Unanswered == nil {
			t.Errorf("call %d failed and the result does not say so: %v", n, codes(r.Verification.Failures))
			continue
		}
		if !errors.Is(r.Unanswered, destination.ErrUnavailable) || r.Verification.Passed || r.Verification.Class() != contract.VerdictUnverified {
			t.Errorf("call %d: %v, class %s", n, r.Unanswered, r.Verification.Class())
		}
		for _, c := range codes(r.Verification.Failures) {
			seen[c] = true
		}
	}
	want := map[string]bool{"MANIFEST_READ_ERROR": true, "SUCCESS_READ_ERROR": true, "LIST_ERROR": true, "UNTRACKED_OBJECT stray": true}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("findings of all failures (-want +got):\n%s", d)
	}
}

func TestACancelledVerificationHasNoVerdict(t *testing.T) {
	p := publish(t, memory.LikeS3, 2)
	ctx, cancel := context.WithCancel(t.Context())
	store := faulty.Wrap(p, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == "list" {
			cancel()
		}
		return perform()
	}))
	if _, err := Verify(ctx, store, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
