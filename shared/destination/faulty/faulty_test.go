package faulty_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/destinationtest"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

func bucket() destination.Store { return memory.New("memory://b", memory.LikeS3) }

func TestAStoreWithoutFaultsIsAStore(t *testing.T) {
	destinationtest.Run(t, func(*testing.T) destination.Store { return faulty.Wrap(bucket(), &faulty.Recorder{}) })
}

// pair writes two objects and reads the first: three calls, two writes.
func pair(ctx context.Context, s destination.Store) error {
	if _, err := s.Create(ctx, "manifest.json", []byte("m"), destination.Meta{}); err != nil {
		return err
	}
	if _, _, err := s.Get(ctx, "manifest.json", 10); err != nil {
		return err
	}
	_, err := s.Create(ctx, "_SUCCESS", []byte("s"), destination.Meta{})
	return err
}

func stored(t *testing.T, s destination.Store) []string {
	t.Helper()
	var out []string
	if err := s.List(t.Context(), "", func(o destination.Object) error { out = append(out, o.Key); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFaultsHappenAtTheCallTheyName(t *testing.T) {
	busy := errors.New("busy")
	for _, tc := range []struct {
		name  string
		fault faulty.Fault
		want  error
		left  []string // in the store afterwards
	}{
		{"a crash in the first call that did not land", faulty.Crash{}, faulty.ErrCrashed, nil},
		{"a crash in the first call that landed", faulty.Crash{Landed: true}, faulty.ErrCrashed, []string{"manifest.json"}},
		{"a crash in the third call that did not land", faulty.Crash{After: 2}, faulty.ErrCrashed, []string{"manifest.json"}},
		{"a crash in the third call that landed", faulty.Crash{After: 2, Landed: true}, faulty.ErrCrashed, []string{"_SUCCESS", "manifest.json"}},
		{"no crash within three calls", faulty.Crash{After: 3}, nil, []string{"_SUCCESS", "manifest.json"}},
		{"the second write's answer is lost", faulty.LoseAcknowledgement{Write: 2}, destination.ErrUndecided, []string{"_SUCCESS", "manifest.json"}},
		{"the second write is lost", faulty.LoseRequest{Write: 2}, destination.ErrUndecided, []string{"manifest.json"}},
		{"no write has number 0", faulty.LoseRequest{}, nil, []string{"_SUCCESS", "manifest.json"}},
		{"a passing failure of a read", faulty.Transient{Call: 2}, destination.ErrUnavailable, []string{"manifest.json"}},
		{"a passing failure with an error of its own", faulty.Transient{Call: 1, Err: busy}, busy, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inner := bucket()
			err := pair(t.Context(), faulty.Wrap(inner, tc.fault))
			if !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
			if got := stored(t, inner); !slices.Equal(got, tc.left) {
				t.Errorf("the store holds %q, want %q", got, tc.left)
			}
		})
	}
}

func TestACrashedProcessStaysCrashed(t *testing.T) {
	s := faulty.Wrap(bucket(), faulty.Crash{After: 1})
	_ = pair(t.Context(), s)
	if err := pair(t.Context(), s); !errors.Is(err, faulty.ErrCrashed) {
		t.Errorf("error after the crash is %v", err)
	}
}

func TestATransientFailurePasses(t *testing.T) {
	s := faulty.Wrap(bucket(), faulty.Transient{Call: 1, Times: 2})
	for range 2 {
		if err := pair(t.Context(), s); !errors.Is(err, destination.ErrUnavailable) {
			t.Fatalf("error is %v", err)
		}
	}
	if err := pair(t.Context(), s); err != nil {
		t.Errorf("the third try: %v", err)
	}
}

func TestADelayedWriteLandsLate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rival bool
		want  error
		body  string
	}{
		{"nobody else wrote", false, nil, "late"},
		{"a rival was faster", true, destination.ErrExists, "rival"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inner := bucket()
			late := &faulty.Delay{Write: 1}
			_, err := faulty.Wrap(inner, late).Create(t.Context(), "k", []byte("late"), destination.Meta{})
			if !errors.Is(err, destination.ErrUndecided) {
				t.Fatalf("error is %v", err)
			}
			if got := stored(t, inner); got != nil {
				t.Fatalf("the store holds %q too early", got)
			}
			if tc.rival {
				if _, err := inner.Create(t.Context(), "k", []byte("rival"), destination.Meta{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := late.Land(); !errors.Is(err, tc.want) {
				t.Errorf("landing: %v, want %v", err, tc.want)
			}
			if body, _, err := inner.Get(t.Context(), "k", 10); err != nil || string(body) != tc.body {
				t.Errorf("the key holds %q, %v; want %q", body, err, tc.body)
			}
		})
	}
}

func TestInterleaveRunsBetweenTwoCalls(t *testing.T) {
	inner := bucket()
	s := faulty.Wrap(inner, faulty.Interleave{Call: 3, Do: func() {
		if _, err := inner.Create(t.Context(), "_SUCCESS", []byte("rival"), destination.Meta{}); err != nil {
			t.Error(err)
		}
	}})
	if err := pair(t.Context(), s); !errors.Is(err, destination.ErrExists) {
		t.Errorf("error is %v, want the rival to have won", err)
	}
}

func TestTheRecorderKeepsTheOrder(t *testing.T) {
	var rec faulty.Recorder
	_ = pair(t.Context(), faulty.Wrap(bucket(), &rec, faulty.Crash{After: 2, Landed: true}))
	if want := []string{"create manifest.json", "get manifest.json", "create _SUCCESS"}; !slices.Equal(rec.Calls(), want) {
		t.Errorf("calls are %q, want %q", rec.Calls(), want)
	}
	if want := []string{"create manifest.json"}; !slices.Equal(rec.Written(), want) {
		t.Errorf("written are %q, want %q", rec.Written(), want)
	}
}
