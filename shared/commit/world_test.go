package commit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// world is one export in one bucket, whose source has the rows 1, 2, 3, … Run
// number n sees n rows more than the run before it, so that windows overlap if
// anything goes wrong.
type world struct {
	store  *memory.Store
	nonces atomic.Int64
}

func newWorld(like destination.Capabilities) *world {
	return &world{store: memory.New("memory://bucket", like)}
}

type testClock struct{}

func (testClock) Now() time.Time                       { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }
func (testClock) After(time.Duration) <-chan time.Time { return nil }

// NewID and Jitter make world an IDSource.
func (w *world) NewID() string   { return "id-" + strconv.FormatInt(w.nonces.Add(1), 10) }
func (w *world) Jitter() float64 { return 0 }

var testExport = exportconfig.Export{Name: "orders", Table: "public.orders", Format: "csv", Compression: "none"}

func (w *world) fence(store destination.Store) Fence {
	return Fence{Root: store, Export: "orders", Clock: testClock{}, IDs: w}
}

func position(row int) *contract.Position {
	if row == 0 {
		return nil
	}
	return &contract.Position{Kind: "incremental", Column: "id", Type: "bigint", Value: strconv.Itoa(row)}
}

func rowOf(p *contract.Position) int {
	if p == nil {
		return 0
	}
	n, _ := strconv.Atoi(p.Value)
	return n
}

var identity = contract.SourceIdentity{Engine: "postgres", SystemIdentifier: "1", Database: "shop"}

// acquire takes the fence for run through store, superseding whoever has it.
func (w *world) acquire(ctx context.Context, store destination.Store, run contract.RunID) (Opened, error) {
	return w.acquisition(store, run).Acquire(ctx)
}

func (w *world) acquisition(store destination.Store, run contract.RunID) Acquisition {
	return Acquisition{
		Fence: w.fence(store), Me: Owner{RunID: run, Prefix: "out/", Creation: "first life"}, SourceIdentity: identity, Position: position(1),
		MayTake:      func(context.Context, contract.CursorDocument) error { return nil },
		StillPlanned: func(context.Context) error { return nil },
		CheckParts:   func(context.Context, destination.Store, contract.Manifest) error { return nil },
		Tombstone:    func(p contract.Predecessor) contract.Manifest { return tombstone(p.RunID) },
	}
}

// reborn is how run is acquired after its item was lost and created again.
func (w *world) reborn(run contract.RunID) Acquisition {
	a := w.acquisition(w.store, run)
	a.Me.Creation = "second life"
	return a
}

func tombstone(run contract.RunID) contract.Manifest {
	return TombstoneOf(run, testExport, "postgres", testClock{}.Now())
}

// publication is what run publishes from the position it opened at up to row hi.
func (w *world) publication(store destination.Store, run contract.RunID, g contract.Generation, from *contract.Position, hi int) Publication {
	window := &contract.PositionWindow{Kind: "incremental", Column: "id", Type: "bigint", From: from, To: position(hi)}
	m := header(run, testExport, "postgres")
	m.Status = contract.StatusSuccess
	m.StartedAt, m.FinishedAt = contract.NewTime(testClock{}.Now()), contract.NewTime(testClock{}.Now())
	m.Generation, m.Position, m.Control = g, window, ".."
	rows := int64(hi - rowOf(from))
	m.Parts = []contract.Part{{PartID: 1, Path: fmt.Sprintf("part-g%06d-000001.csv", g), Rows: rows, SizeBytes: rows, Status: contract.PartCommitted}}
	m.PartCount, m.RowCount = 1, rows
	body, err := m.Encode()
	if err != nil {
		panic(err)
	}
	return Publication{
		Fence: w.fence(store), Me: Owner{RunID: run, Prefix: "out/"}, Generation: g,
		RecordKey: contract.RecordKey("orders", run, g), Record: []byte(fmt.Sprintf(`{"run":%q,"gen":%d}`, run, g)),
		Manifest: body, Window: window, Tombstone: tombstone(run),
	}
}

// life is one process that runs a run from start to end: fence, plan, publish.
// hi is the last row that the source had when it planned.
func (w *world) life(ctx context.Context, store destination.Store, run contract.RunID, hi int) (Ending, error) {
	opened, err := w.acquire(ctx, store, run)
	if err != nil {
		return "", err
	}
	return w.finish(ctx, store, run, opened, hi)
}

func (w *world) finish(ctx context.Context, store destination.Store, run contract.RunID, opened Opened, hi int) (Ending, error) {
	from := opened.Held.Doc.Position
	done, err := w.publication(store, run, opened.Generation(), from, max(hi, rowOf(from)+1)).Publish(ctx)
	return done.Ending, err
}

// check fails the test unless the destination tells the truth: every row up to
// the cursor is in exactly one success sidecar, no row is in two, and the
// canonical pair fits together whenever a marker stands (V7, V10).
func (w *world) check(t *testing.T, when string) {
	t.Helper()
	ctx := t.Context()
	held, err := w.fence(w.store).Read(ctx)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	prefix := destination.Prefixed(w.store, "out/")
	count := make(map[int]int)
	err = prefix.List(ctx, "manifest-", func(o destination.Object) error {
		body, _, err := prefix.Get(ctx, o.Key, contract.MaxManifestBytes)
		if err != nil {
			return err
		}
		m, err := contract.DecodeManifest(body)
		if err != nil || m.Status != contract.StatusSuccess {
			return err
		}
		for row := rowOf(m.Position.From) + 1; row <= rowOf(m.Position.To); row++ {
			count[row]++
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for row, n := range count {
		if n > 1 {
			t.Fatalf("%s: row %d is in %d success manifests", when, row, n)
		}
	}
	for row := 1; row <= rowOf(held.Doc.Position); row++ {
		if count[row] != 1 {
			t.Fatalf("%s: row %d lies behind the cursor and is in %d success manifests", when, row, count[row])
		}
	}
	marker, _, err := read(ctx, prefix, contract.SuccessName, contract.MaxSuccessBytes)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	manifest, _, err := read(ctx, prefix, contract.ManifestName, contract.MaxManifestBytes)
	if err != nil || marker != nil && manifest == nil {
		t.Fatalf("%s: a marker stands without a manifest (%v)", when, err)
	}
	if manifest != nil {
		m, err := contract.DecodeManifest(manifest)
		if err != nil || m.Status != contract.StatusSuccess {
			t.Fatalf("%s: the canonical manifest is %q (%v)", when, m.Status, err)
		}
		if by := held.Doc.CommittedBy; by != nil && m.Generation < by.Generation {
			t.Fatalf("%s: the canonical manifest is of generation %d, the cursor was committed by generation %d", when, m.Generation, by.Generation)
		}
	} else if held.Doc.CommittedBy != nil {
		t.Fatalf("%s: the cursor has been committed and there is no canonical manifest", when)
	}
}

// settled fails the test unless the pair is that of the run that committed last.
func (w *world) settled(t *testing.T, when string) {
	t.Helper()
	w.check(t, when)
	ctx := t.Context()
	prefix := destination.Prefixed(w.store, "out/")
	held, err := w.fence(w.store).Read(ctx)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	by := held.Doc.CommittedBy
	if by == nil {
		t.Fatalf("%s: nobody has committed", when)
	}
	sidecar, _, err := prefix.Get(ctx, by.Manifest, contract.MaxManifestBytes)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if same, err := SameManifest(ctx, prefix, sidecar); err != nil || !same {
		t.Fatalf("%s: the canonical pair is not that of %s (%v)", when, by.RunID, err)
	}
}

func isFenced(err error) bool {
	var lost *FenceLostError
	return errors.As(err, &lost) && fault.ClassOf(err) == fault.Fenced
}

func isCommitted(err error) bool {
	var c *CommittedError
	return errors.As(err, &c)
}

func mentions(err error, words ...string) bool {
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}
