package commit

import (
	"context"
	"testing"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// The guards that a second one stands behind are looked at one by one here: what
// a whole run does would not tell which of the two has held.

// before runs act when the store is called for the n-th time with op on key.
func before(store destination.Store, op, key string, n int, act func()) destination.Store {
	seen := 0
	return faulty.Wrap(store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == op && c.Key == key {
			if seen++; seen == n {
				act()
			}
		}
		return perform()
	}))
}

func anyDocument(contract.CursorDocument) error { return nil }

// A run that another one overtakes while it opens its fence learns of it before
// its table does: it gets neither its own generation nor the other's.
func TestOvertakenPlannerLosesTheFence(t *testing.T) {
	for _, tc := range []struct {
		name    string
		op, key string
		n       int
	}{
		{"before OPEN", "replace", contract.CursorKey("orders"), 2}, // the first is TAKE
		{"after OPEN", "get", "out/" + contract.SidecarName("second"), 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			reached := false
			opened, err := w.acquire(t.Context(), before(w.store, tc.op, tc.key, tc.n, func() {
				reached = true
				if _, err := w.acquire(t.Context(), w.store, "third"); err != nil {
					t.Fatal(err)
				}
			}), "second")
			if !reached {
				t.Fatal("nobody overtook it: the test no longer tests anything")
			}
			if !isFenced(err) {
				t.Fatalf("the run gets generation %d (%v), want the fence lost", opened.Generation(), err)
			}
			lives(t, w, "fourth", 4)
			w.settled(t, "in the end")
		})
	}
}

// RESUME and RELEASE are for the owner, in the states that they name.
func TestFenceOfAnotherIsLeftAlone(t *testing.T) {
	resume := func(ctx context.Context, f Fence, run contract.RunID, _ contract.Generation) error {
		_, err := f.Resume(ctx, Owner{RunID: run, Prefix: "out/"}, anyDocument)
		return err
	}
	release := func(ctx context.Context, f Fence, run contract.RunID, g contract.Generation) error {
		return f.Release(ctx, run, g)
	}
	open := func(t *testing.T, w *world) { w.mustAcquire(t, "first") }
	committed := func(t *testing.T, w *world) { lives(t, w, "first", 2) }
	resumed := func(t *testing.T, w *world) {
		open(t, w)
		if err := resume(t.Context(), w.fence(w.store), "first", 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name  string
		begin func(t *testing.T, w *world)
		run   contract.RunID
		act   func(context.Context, Fence, contract.RunID, contract.Generation) error
		want  func(error) bool
	}{
		{"a resume of another run's fence", open, "second", resume, isFenced},
		{"a resume of a fence that is committed", committed, "first", resume, isCommitted},
		{"a release of another run's fence", open, "second", release, isNil},
		{"a release by an older generation", resumed, "first", release, isNil},
		{"a release of a fence that is committed", committed, "first", release, isNil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			tc.begin(t, w)
			was, err := w.fence(w.store).Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.act(t.Context(), w.fence(w.store), tc.run, 1); !tc.want(err) {
				t.Errorf("it ends with %v", err)
			}
			is, err := w.fence(w.store).Read(t.Context())
			if err != nil || is.Version != was.Version {
				t.Errorf("the fence went from %+v to %+v (%v)", was.Doc, is.Doc, err)
			}
		})
	}
}

func isNil(err error) bool { return err == nil }

func (w *world) mustAcquire(t *testing.T, run contract.RunID) Opened {
	t.Helper()
	opened, err := w.acquire(t.Context(), w.store, run)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// A stored position is of one column: another one is refused, and so is a mode
// that has none.
func TestCursorOfAnotherShapeIsRefused(t *testing.T) {
	for name, want := range map[string]*contract.Position{
		"another column": {Kind: "incremental", Column: "updated_at", Type: "bigint"},
		"another type":   {Kind: "incremental", Column: "id", Type: "text"},
		"another kind":   {Kind: "keyset_incremental", Column: "id", Type: "bigint"},
		"no cursor":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			lives(t, w, "first", 2)
			a := w.acquisition(w.store, "second")
			a.Position = want
			if _, err := a.Acquire(t.Context()); fault.CodeOf(err) != "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED" {
				t.Fatalf("the run gets %v", err)
			}
		})
	}
}

// A predecessor's window moves the position only if it starts there, and is of
// the same column: everything else would lose rows or repeat them.
func TestPositionMovesOverAWindowThatStartsAtIt(t *testing.T) {
	for _, tc := range []struct {
		name     string
		at, from int
		change   func(w *contract.PositionWindow)
		want     int
	}{
		{"at the position", 2, 2, nil, 4},
		{"at the beginning", 0, 0, nil, 4},
		{"behind a gap", 2, 3, nil, 2},
		{"before the position", 3, 2, nil, 3},
		{"of another column", 2, 2, func(w *contract.PositionWindow) { w.To.Column = "other" }, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			window := &contract.PositionWindow{Kind: "incremental", Column: "id", Type: "bigint", From: position(tc.from), To: position(4)}
			if tc.change != nil {
				tc.change(window)
			}
			m := header("first", testExport, "postgres")
			m.Status, m.Generation, m.Position = contract.StatusSuccess, 1, window
			sidecar, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			doc := contract.CursorDocument{Position: position(tc.at)}
			advanceOver(&doc, contract.Predecessor{RunID: "first", Generation: 1}, sidecar)
			if got := rowOf(doc.Position); got != tc.want || (doc.CommittedBy != nil) != (tc.want != tc.at) {
				t.Fatalf("the position is %d, committed by %+v, want %d", got, doc.CommittedBy, tc.want)
			}
			if moved := tc.want != tc.at; moved && !doc.PreviousPosition.Equal(position(tc.at)) {
				t.Fatalf("the position was at %+v before", doc.PreviousPosition)
			}
		})
	}
}

// Two finalizers of one generation that do not make the same bytes are a defect
// of ours: the second one publishes nothing (V18).
func TestDifferentBytesOfOneGenerationAreRefused(t *testing.T) {
	w := newWorld(memory.LikeS3)
	opened := w.mustAcquire(t, "first")
	one := w.publication(w.store, "first", opened.Generation(), nil, 2)
	other := w.publication(w.store, "first", opened.Generation(), nil, 3)
	if _, err := one.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := takeSnapshot(t, w)
	if _, err := other.Publish(t.Context()); fault.CodeOf(err) != "LAPSTRAKE_INTERNAL_NOT_DETERMINISTIC" {
		t.Fatalf("the second finalizer ends with %v", err)
	}
	if is := takeSnapshot(t, w); is != was {
		t.Fatalf("the destination went from %+v to %+v", was, is)
	}
}

// A publication whose window does not start at the cursor leaves it alone (V9).
func TestCursorMovesOnlyOverItsOwnWindow(t *testing.T) {
	w := newWorld(memory.LikeS3)
	lives(t, w, "first", 4)
	opened := w.mustAcquire(t, "second")
	if _, err := w.publication(w.store, "second", opened.Generation(), position(2), 3).Publish(t.Context()); fault.CodeOf(err) != "LAPSTRAKE_INTERNAL_CURSOR_REGRESS" {
		t.Fatalf("it ends with %v", err)
	}
	held, err := w.fence(w.store).Read(t.Context())
	if err != nil || rowOf(held.Doc.Position) != 4 {
		t.Fatalf("the cursor is at %d (%v)", rowOf(held.Doc.Position), err)
	}
}

// A part under this attempt's name that carries another generation is not this
// attempt's, though its bytes are the same; nor is one that is cut short.
func TestPutPartAdoptsItsOwnOnly(t *testing.T) {
	attested := partStores["a store that vouches for size only"]
	for _, tc := range []struct {
		name   string
		like   destination.Capabilities
		change func(p []byte, m *destination.Meta) []byte
	}{
		{"another generation", memory.LikeS3, func(p []byte, m *destination.Meta) []byte { m.User[MetaGeneration] = "1"; return p }},
		{"another run", memory.LikeS3, func(p []byte, m *destination.Meta) []byte { m.User[MetaRun] = "r0"; return p }},
		{"a part cut short, whose metadata says what it was to be", attested, func(p []byte, _ *destination.Meta) []byte { return p[:2] }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first := memory.New("memory://b", tc.like)
			put, err := PutPart(t.Context(), first, spec("r1", 2), part("same"))
			if err != nil {
				t.Fatal(err)
			}
			body, _, err := first.Get(t.Context(), put.Path, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			o, err := first.Head(t.Context(), put.Path)
			if err != nil {
				t.Fatal(err)
			}
			meta := destination.Meta{User: o.User}
			body = tc.change(body, &meta)
			store := memory.New("memory://b", tc.like)
			if _, err := store.Create(t.Context(), put.Path, body, meta); err != nil {
				t.Fatal(err)
			}
			got, err := PutPart(t.Context(), store, spec("r1", 2), part("same"))
			if err != nil || got.Path == put.Path {
				t.Fatalf("stored at %q (%v): that is another object", got.Path, err)
			}
		})
	}
}

// The run record stands before the sidecar that names it.
func TestRecordStandsBeforeTheSidecar(t *testing.T) {
	w := newWorld(memory.LikeS3)
	opened := w.mustAcquire(t, "first")
	record := contract.RecordKey("orders", "first", opened.Generation())
	store := before(w.store, "create", "out/"+contract.SidecarName("first"), 1, func() {
		if body, _, err := read(t.Context(), w.store, record, 1<<20); err != nil || body == nil {
			t.Errorf("the run commits, and its record is not there (%v)", err)
		}
	})
	if _, err := w.publication(store, "first", opened.Generation(), nil, 2).Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A resume whose answer is lost finds the generation that it took, and takes no
// other.
func TestResumeWithLostAnswers(t *testing.T) {
	for _, f := range []faulty.Fault{faulty.LoseAcknowledgement{Write: 1}, faulty.LoseRequest{Write: 1}} {
		w := newWorld(memory.LikeS3)
		w.mustAcquire(t, "first")
		held, err := w.fence(faulty.Wrap(w.store, f)).Resume(t.Context(), Owner{RunID: "first", Prefix: "out/"}, anyDocument)
		if err != nil || held.Doc.Generation != 2 {
			t.Errorf("%T: generation %d (%v), want 2", f, held.Doc.Generation, err)
		}
	}
}

// A finalizer that finds itself superseded while its successor has not sealed it
// yet makes sure that no other finalizer of its run can commit after that.
func TestSupersededRunCanNeverCommit(t *testing.T) {
	w := newWorld(memory.LikeS3)
	opened := w.mustAcquire(t, "first")
	dying := faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Key == "out/"+contract.SidecarName("first") && c.Write > 0 {
			return faulty.ErrCrashed
		}
		return perform()
	}))
	if _, err := w.acquire(t.Context(), dying, "second"); err == nil {
		t.Fatal("the successor did not die before it sealed its predecessor")
	}
	done, err := w.publication(w.store, "first", opened.Generation(), nil, 2).Publish(t.Context())
	if err != nil || done.Ending != Superseded || done.SealedBy == nil || done.SealedBy.RunID != "second" {
		t.Fatalf("it ends %q by %+v: %v", done.Ending, done.SealedBy, err)
	}
	m, _, err := ReadSidecar(t.Context(), destination.Prefixed(w.store, "out/"), "first")
	if err != nil || m == nil || !m.Tombstone() {
		t.Fatalf("its sidecar is %+v (%v), want a tombstone", m, err)
	}
}

// A planner that comes second gets the plan that stands, not its own.
func TestFirstPlanStands(t *testing.T) {
	store := memory.New("memory://b", memory.LikeS3)
	plan := chunkplan.Plan{PlanVersion: chunkplan.PlanVersion, RunID: "r1", Export: testExport, Prefix: "first/"}
	_, first, err := StorePlan(t.Context(), store, plan)
	if err != nil {
		t.Fatal(err)
	}
	plan.Prefix = "second/"
	got, fp, err := StorePlan(t.Context(), store, plan)
	if err != nil || got.Prefix != "first/" || fp != first {
		t.Fatalf("the second planner gets %q with %s (%v), want the first plan with %s", got.Prefix, fp, err, first)
	}
}
