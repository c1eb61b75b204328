package destinationtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
)

const rivals = 24

// race lets all rivals write at once and checks that exactly one of them won,
// and that its body is there.
func race(t *testing.T, s destination.Store, key string, lost error, write func(body []byte) (destination.Version, error)) {
	t.Helper()
	var winner atomic.Int32
	winner.Store(-1)
	start := make(chan struct{})
	wait := make(chan struct{})
	go func() {
		defer close(wait)
		parallel(rivals, rivals, func(i int) {
			<-start
			_, err := write(fmt.Appendf(nil, "rival %d", i))
			switch {
			case err == nil:
				if other := winner.Swap(int32(i)); other >= 0 {
					t.Errorf("%s: rivals %d and %d have both won", key, other, i)
				}
			case !errors.Is(err, lost):
				t.Errorf("%s: rival %d: %v", key, i, err)
			}
		})
	}()
	close(start)
	<-wait
	if winner.Load() < 0 {
		t.Fatalf("%s: nobody has won", key)
	}
	wantBody(t, s, key, fmt.Sprintf("rival %d", winner.Load()))
}

func testCreateRace(t *testing.T, s destination.Store) {
	for round := range 3 {
		key := fmt.Sprintf("folder-%d/contested", round) // the folder is made in the race, too
		race(t, s, key, destination.ErrExists, func(body []byte) (destination.Version, error) {
			return s.Create(t.Context(), key, body, describe(body))
		})
	}
}

func testReplaceRace(t *testing.T, s destination.Store) {
	v := put(t, s, "cursor.json", []byte("start"))
	for range 3 {
		race(t, s, "cursor.json", destination.ErrMoved, func(body []byte) (destination.Version, error) {
			return s.Replace(t.Context(), "cursor.json", v, body, describe(body))
		})
		o, err := s.Head(t.Context(), "cursor.json")
		if err != nil {
			t.Fatal(err)
		}
		// Every body that is replaced is unique, as the seam asks.
		if v, err = s.Replace(t.Context(), "cursor.json", o.Version, []byte("next "+string(o.Version)), destination.Meta{}); err != nil {
			t.Fatal(err)
		}
	}
	race(t, s, "absent", destination.ErrMoved, func(body []byte) (destination.Version, error) {
		return s.Replace(t.Context(), "absent", destination.Absent, body, describe(body))
	})
}

// testWholeObjects reads while the object is replaced: every read is one of the
// bodies, whole (M7).
func testWholeObjects(t *testing.T, s destination.Store) {
	const writes, size = 20, 256 << 10
	body := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, size) }
	v := put(t, s, "k", body(0))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; i < writes; i++ {
			var err error
			if v, err = s.Replace(t.Context(), "k", v, body(i), destination.Meta{}); err != nil {
				t.Errorf("replace: %v", err)
				return
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got := get(t, s, "k")
		if len(got) != size || strings.Trim(string(got), string(got[:1])) != "" {
			t.Fatalf("a reader saw %d bytes of two objects", len(got))
		}
		if o, err := s.Head(t.Context(), "k"); err != nil || o.Size != size {
			t.Fatalf("head = %+v, %v", o, err)
		}
	}
}
