package commit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

var stores = map[string]destination.Capabilities{"content-derived versions": memory.LikeS3, "unique versions": memory.LikeGCS}

// beginning is what the run before has left behind.
type beginning func(t *testing.T, w *world)

var beginnings = map[string]beginning{
	"first run": func(*testing.T, *world) {},
	"after a run that ended": func(t *testing.T, w *world) {
		if _, err := w.life(t.Context(), w.store, "first", 2); err != nil {
			t.Fatal(err)
		}
	},
	"after a run that died open":       leftAt(contract.RecordKey("orders", "first", 1), false),
	"after a run that died committed":  leftAt(contract.SidecarName("first"), true),
	"after a run that died publishing": leftAt(contract.ManifestName, true),
}

// leftAt ends the first run in its first write of the object called name.
func leftAt(name string, landed bool) beginning {
	return func(t *testing.T, w *world) {
		dead := false
		_, err := w.life(t.Context(), faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			if !dead && c.Write > 0 && strings.HasSuffix(c.Key, name) {
				dead = true
				if landed {
					_ = perform()
				}
			}
			if dead {
				return faulty.ErrCrashed
			}
			return perform()
		})), "first", 2)
		if !dead || !errors.Is(err, faulty.ErrCrashed) {
			t.Fatalf("the first run did not die at %s: %v", name, err)
		}
	}
}

// A process dies at every call of its run in turn, with that call landed or
// not. Whatever comes next, another try of the run or a successor, completes:
// no row is lost or in two success manifests (I3, M1, M2, M10, D15).
func TestCrashAtEveryCall(t *testing.T) {
	for kind, like := range stores {
		for _, landed := range []bool{false, true} {
			for _, next := range []string{"the same run", "a successor", "a successor, then another"} {
				for how, begin := range beginnings {
					t.Run(fmt.Sprintf("%s, %s, landed %v, then %s", kind, how, landed, next), func(t *testing.T) {
						crashEverywhere(t, like, landed, next, begin)
					})
				}
			}
		}
	}
}

func crashEverywhere(t *testing.T, like destination.Capabilities, landed bool, next string, begin beginning) {
	ctx := t.Context()
	for n := 0; ; n++ {
		w := newWorld(like)
		begin(t, w)
		_, err := w.life(ctx, faulty.Wrap(w.store, faulty.Crash{After: n, Landed: landed}), "second", 4)
		when := fmt.Sprintf("after a crash in call %d", n+1)
		w.check(t, when)
		if err == nil {
			if n < 12 {
				t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
			}
			return
		}
		if !errors.Is(err, faulty.ErrCrashed) {
			t.Fatalf("%s: %v", when, err)
		}
		runs := []contract.RunID{"second"}
		if next != "the same run" {
			runs = []contract.RunID{"third"}
		}
		if next == "a successor, then another" {
			runs = append(runs, "fourth")
		}
		for i, run := range runs {
			_, err := w.life(ctx, w.store, run, 6+i)
			if err != nil && !isCommitted(err) {
				t.Fatalf("%s: run %s: %v", when, run, err)
			}
			if isCommitted(err) {
				finishCommitted(t, w, run)
			}
			w.check(t, when+", then "+string(run))
		}
		w.settled(t, when)
	}
}

// finishCommitted does what a finalizer does for a run whose sidecar is a
// success: it publishes the sidecar's bytes.
func finishCommitted(t *testing.T, w *world, run contract.RunID) {
	t.Helper()
	ctx := t.Context()
	m, body, err := ReadSidecar(ctx, destination.Prefixed(w.store, "out/"), run)
	if err != nil || m == nil {
		t.Fatalf("run %s says that it has committed, and has no sidecar (%v)", run, err)
	}
	held, err := w.fence(w.store).Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := w.publication(w.store, run, m.Generation, m.Position.From, rowOf(m.Position.To))
	p.Manifest, p.Generation = body, held.Doc.Generation
	if _, err := p.Publish(ctx); err != nil {
		t.Fatal(err)
	}
}

// Every write's answer is lost in turn, after the write landed and before it:
// the process finds out by reading back, and ends as if nothing had happened.
func TestLostAnswers(t *testing.T) {
	ctx := t.Context()
	for kind, like := range stores {
		for _, lose := range []func(n int) faulty.Fault{
			func(n int) faulty.Fault { return faulty.LoseAcknowledgement{Write: n} },
			func(n int) faulty.Fault { return faulty.LoseRequest{Write: n} },
		} {
			for n := 1; ; n++ {
				w := newWorld(like)
				if _, err := w.life(ctx, w.store, "first", 2); err != nil {
					t.Fatal(err)
				}
				f := lose(n)
				var seen faulty.Recorder
				ending, err := w.life(ctx, faulty.Wrap(w.store, &seen, f), "second", 4)
				if err != nil || ending != Committed {
					t.Fatalf("%s, %T %d: %q, %v", kind, f, n, ending, err)
				}
				w.settled(t, fmt.Sprintf("%s, %T %d", kind, f, n))
				if n > 12 {
					break
				}
			}
		}
	}
}

// rival does something to the export while another process is stalled, and
// returns what is left for it to do once that process has ended.
type rival func(t *testing.T, w *world) (afterwards func(t *testing.T, zombie Ending))

var rivals = map[string]rival{
	"a newer run starts and ends": func(t *testing.T, w *world) func(*testing.T, Ending) {
		lives(t, w, "third", 6)
		return nil
	},
	"a newer run starts": func(t *testing.T, w *world) func(*testing.T, Ending) {
		opened, err := w.acquire(t.Context(), w.store, "third")
		if err != nil {
			t.Fatal(err)
		}
		return func(t *testing.T, zombie Ending) {
			ending, err := w.finish(t.Context(), w.store, "third", opened, 6)
			if err != nil || ending != Committed && zombie != Committed { // a zombie that slept before it took the fence is the newer one
				t.Fatalf("the newer run ends %q: %v", ending, err)
			}
		}
	},
	"a duplicate starts and ends": func(t *testing.T, w *world) func(*testing.T, Ending) {
		lives(t, w, "second", 4)
		return nil
	},
	"two newer runs start and end": func(t *testing.T, w *world) func(*testing.T, Ending) {
		lives(t, w, "third", 6)
		lives(t, w, "fourth", 8)
		return nil
	},
}

func lives(t *testing.T, w *world, run contract.RunID, hi int) {
	t.Helper()
	_, err := w.life(t.Context(), w.store, run, hi)
	if isCommitted(err) {
		finishCommitted(t, w, run)
	} else if err != nil {
		t.Fatalf("run %s: %v", run, err)
	}
}

// A process stalls before every call in turn while a rival works, and then
// wakes up. It changes nothing that a newer run has written (D3, V8): it ends
// superseded, rolled forward or refused, and every row is in one manifest.
func TestZombieAtEveryCall(t *testing.T) {
	zombies := map[string]func(w *world, store destination.Store) (Ending, error){
		"planner and finalizer": func(w *world, store destination.Store) (Ending, error) {
			return w.life(context.Background(), store, "second", 4)
		},
		"finalizer of the run before": func(w *world, store destination.Store) (Ending, error) {
			done, err := w.publication(store, "first", 1, nil, 2).Publish(context.Background())
			return done.Ending, err
		},
	}
	for kind, like := range stores {
		for how, begin := range beginnings {
			for who, rival := range rivals {
				for what, zombie := range zombies {
					if what == "finalizer of the run before" && how == "first run" {
						continue // there is no run before
					}
					t.Run(strings.Join([]string{kind, how, who, what}, ", "), func(t *testing.T) {
						t.Parallel()
						stallEverywhere(t, like, begin, rival, zombie)
					})
				}
			}
		}
	}
}

func stallEverywhere(t *testing.T, like destination.Capabilities, begin beginning, rival rival, zombie func(*world, destination.Store) (Ending, error)) {
	for n := 1; ; n++ {
		w := newWorld(like)
		begin(t, w)
		var afterwards func(*testing.T, Ending)
		var before snapshot
		interrupted := false
		store := faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			if c.N == n {
				interrupted = true
				afterwards = rival(t, w)
				before = takeSnapshot(t, w)
			}
			return perform()
		}))
		ending, err := zombie(w, store)
		when := fmt.Sprintf("stalled before call %d", n)
		if !interrupted {
			if n < 5 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
		if err != nil && !isFenced(err) && !isCommitted(err) {
			t.Fatalf("%s: %v", when, err)
		}
		w.check(t, when)
		after := takeSnapshot(t, w)
		if before.success != "" && after != before && ending != Committed {
			t.Fatalf("%s: the zombie (ending %q, %v) changed the pair or the cursor\nbefore %+v\nafter  %+v", when, ending, err, before, after)
		}
		if afterwards != nil {
			afterwards(t, ending)
		}
		w.settled(t, when)
	}
}

// snapshot is what a newer run has written and an older one may not change.
type snapshot struct{ manifest, success, cursor destination.Version }

func takeSnapshot(t *testing.T, w *world) snapshot {
	t.Helper()
	var s snapshot
	for key, v := range map[string]*destination.Version{
		"out/" + contract.ManifestName: &s.manifest, "out/" + contract.SuccessName: &s.success, contract.CursorKey("orders"): &s.cursor,
	} {
		_, version, err := read(t.Context(), w.store, key, contract.MaxManifestBytes)
		if err != nil {
			t.Fatal(err)
		}
		*v = version
	}
	return s
}
