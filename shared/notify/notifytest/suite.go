// Package notifytest is what every driver of notify passes. Layer: L4
// (observability).
package notifytest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/notify"
)

// Answer is what a driver's receiver does with an event.
type Answer int

const (
	// Takes: the receiver takes the event.
	Takes Answer = iota
	// Refuses: it says no, for a reason that has nothing to do with the event.
	Refuses
	// Hangs: it says nothing until the caller gives up.
	Hangs
)

// Driver is a driver with a receiver of its own.
type Driver struct {
	// Open returns a notifier whose receiver answers so, and how many events
	// the receiver was sent until now.
	Open func(t *testing.T, a Answer) (n notify.Notifier, sent func() int)
	// Wanted are events that the receiver wants, Unwanted those of which it is
	// never told.
	Wanted, Unwanted []notify.Event
	// Secrets are never in an error: the receiver's address, a token.
	Secrets func() []string
	// Waits is true of a receiver that has to be told again.
	Waits bool
}

// Run exercises a driver.
func Run(t *testing.T, d Driver) {
	t.Run("a wanted event is sent once", func(t *testing.T) {
		for i, e := range d.Wanted {
			n, sent := d.Open(t, Takes)
			if err := n.Notify(t.Context(), e); err != nil || sent() != 1 {
				t.Errorf("event %d (%s, %s): sent %d times, %v", i, e.Kind, e.Status, sent(), err)
			}
		}
	})
	t.Run("an event that is not wanted is no error and not sent", func(t *testing.T) {
		n, sent := d.Open(t, Refuses)
		for i, e := range d.Unwanted {
			if err := n.Notify(t.Context(), e); err != nil || sent() != 0 {
				t.Errorf("event %d (%s, %s): sent %d times, %v", i, e.Kind, e.Status, sent(), err)
			}
		}
	})
	t.Run("a refusal is an error that holds no secret", func(t *testing.T) {
		for _, e := range d.Wanted {
			n, _ := d.Open(t, Refuses)
			d.check(t, n.Notify(t.Context(), e))
		}
	})
	t.Run("a receiver that hangs is left when the context ends", func(t *testing.T) {
		n, _ := d.Open(t, Hangs)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		d.check(t, n.Notify(ctx, d.Wanted[0]))
	})
	t.Run("events are sent side by side", func(t *testing.T) {
		n, sent := d.Open(t, Takes)
		const many = 8
		var wg sync.WaitGroup
		for range many {
			wg.Go(func() {
				if err := n.Notify(t.Context(), d.Wanted[0]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if sent() != many {
			t.Errorf("%d of %d events were sent", sent(), many)
		}
	})
}

func (d Driver) check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, secret := range d.Secrets() {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds a secret: %v", err)
		}
	}
	if owed := strings.Contains(err.Error(), notify.ErrOwed.Error()); owed != d.Waits {
		t.Errorf("owed: %v, want %v: %v", owed, d.Waits, err)
	}
}
