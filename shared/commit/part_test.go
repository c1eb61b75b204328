package commit

import (
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
)

func part(body string) partfile.Part {
	return partfile.Part{Body: []byte(body), Rows: 1, Fingerprint: contract.FingerprintOf([]byte(body)), MD5: contract.MD5Base64([]byte(body))}
}

func spec(run contract.RunID, g contract.Generation) PartSpec {
	return PartSpec{Run: run, Task: "000001", Naming: contract.PartNaming{Generation: g, Plain: g == 1, Ext: "csv"}}
}

var partStores = map[string]destination.Capabilities{
	"a store with checksums":             memory.LikeS3,
	"a store with unique versions":       memory.LikeGCS,
	"a store that vouches for size only": {CommitProtocol: "FinalizeOnClose", KeepsMeta: true},
	"a store without metadata":           {CommitProtocol: "Atomic", StoreChecksum: "xxh3"},
}

func TestPutPart(t *testing.T) {
	for kind, like := range partStores {
		t.Run(kind, func(t *testing.T) {
			store := memory.New("memory://b", like)
			put := func(s PartSpec, body, want string) {
				t.Helper()
				r, err := PutPart(t.Context(), store, s, part(body))
				if err != nil || r.Path != want {
					t.Fatalf("stored at %q (%v), want %q", r.Path, err, want)
				}
				got, _, err := store.Get(t.Context(), r.Path, 1<<20)
				if err != nil || string(got) != body || r.Fingerprint != contract.FingerprintOf(got) || r.SizeBytes != int64(len(got)) {
					t.Fatalf("%s holds %q (%v), its record says %+v", r.Path, got, err, r)
				}
			}
			distinct := contract.Distinct("part-000002.csv", contract.FingerprintOf([]byte("other")))
			put(spec("r1", 1), "first", "part-000002.csv")
			put(spec("r1", 1), "first", "part-000002.csv") // an earlier attempt's bytes are adopted
			put(spec("r1", 1), "other", distinct)          // other bytes get a name of their own
			put(spec("r1", 1), "other", distinct)
			put(spec("r1", 2), "first", "part-g000002-000002.csv") // a new generation never shares a name
		})
	}
}

// An object that another run put under a name of ours is never adopted, though
// its bytes are equal.
func TestPutPartDoesNotAdoptAnotherRunsObject(t *testing.T) {
	store := memory.New("memory://b", memory.LikeS3)
	if _, err := PutPart(t.Context(), store, spec("r0", 1), part("same")); err != nil {
		t.Fatal(err)
	}
	r, err := PutPart(t.Context(), store, spec("r1", 1), part("same"))
	if err != nil || r.Path == "part-000002.csv" {
		t.Fatalf("stored at %q (%v): that is another run's object", r.Path, err)
	}
}

// A store that says nothing about an object's content gives no reason to adopt
// it.
func TestPutPartAdoptsNothingUnproved(t *testing.T) {
	store := memory.New("memory://b", destination.Capabilities{CommitProtocol: "Atomic"})
	for range 2 {
		if _, err := PutPart(t.Context(), store, spec("r1", 1), part("same")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := PutPart(t.Context(), store, spec("r1", 1), part("same"))
	if fault.CodeOf(err) != "LAPSTRAKE_DEST_PART_NAME_TAKEN" {
		t.Fatalf("error %v, want LAPSTRAKE_DEST_PART_NAME_TAKEN", err)
	}
}

func TestPutPartWithLostAnswers(t *testing.T) { // DST-07
	for _, f := range []faulty.Fault{faulty.LoseAcknowledgement{Write: 1}, faulty.LoseRequest{Write: 1}} {
		inner := memory.New("memory://b", memory.LikeS3)
		r, err := PutPart(t.Context(), faulty.Wrap(inner, f), spec("r1", 1), part("first"))
		if err != nil || r.Path != "part-000002.csv" {
			t.Fatalf("%T: stored at %q (%v)", f, r.Path, err)
		}
	}
	_, err := PutPart(t.Context(), faulty.Wrap(memory.New("memory://b", memory.LikeS3), faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Write > 0 {
			return destination.ErrUndecided
		}
		return perform()
	})), spec("r1", 1), part("first"))
	if !errors.Is(err, destination.ErrUndecided) {
		t.Fatalf("a store that never answers gives %v", err)
	}
}
