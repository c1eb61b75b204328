package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// How often one request is sent before its answer stands. All within the
// caller's deadline (DST-14).
const (
	mostConflicts = 5 // 409
	mostBusy      = 8 // 503: about half a minute
	mostUnsent    = 4
	mostReads     = 5 // of a read, for any passing failure
)

// write sends a conditional write until there is an answer. It returns done,
// lost, missing, refused or undecided, and the error that goes with it.
//
// A request is only sent again if the store has said that it did nothing, or
// seems to: after a 503 it may still have done it, and then a precondition that
// has failed may have failed because of this very write. unsure reports that
// there has been such an answer.
func (b *bucket) write(ctx context.Context, size int, do func(ctx context.Context) error) (a answer, unsure bool, err error) {
	if err := ctx.Err(); err != nil {
		return refused, false, err
	}
	for count := map[answer]int{}; ; {
		a, err = judge(b.attempt(ctx, size, do))
		count[a]++
		again := false
		switch a {
		case conflict:
			again = count[a] < mostConflicts
		case busy:
			again, unsure = count[a] < mostBusy, true
		case unsent:
			again = count[a] < mostUnsent
		case expired:
			again = count[a] == 1
			b.forget()
		case done, lost, missing:
			b.seen.Store(true)
		}
		if again {
			pauseErr := b.pause(ctx, a, count[a])
			if pauseErr == nil {
				continue
			}
			err = errors.Join(pauseErr, err)
		}
		switch {
		case a == conflict && !again, a == busy:
			a = undecided
		case a == conflict, a == unsent, a == expired:
			a = refused
		}
		if a == refused && unsure {
			a = undecided
		}
		return a, unsure, err
	}
}

// read sends a request that changes nothing, again while its failure may pass.
func (b *bucket) read(ctx context.Context, do func(ctx context.Context) error) (answer, error) {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return refused, err
		}
		a, err := judge(b.attempt(ctx, 0, do))
		switch a {
		case done:
			b.seen.Store(true)
			return a, nil
		case lost, missing, refused:
			return a, err
		case expired:
			b.forget()
		}
		if n == mostReads || a == expired && n > 1 {
			return a, err
		}
		if pauseErr := b.pause(ctx, a, n); pauseErr != nil {
			return a, errors.Join(pauseErr, err)
		}
	}
}

// attempt gives one request as long as a slow line needs for its body.
func (b *bucket) attempt(ctx context.Context, size int, do func(ctx context.Context) error) error {
	const slowest = 1 << 20 // bytes a second
	limit := time.Minute + time.Duration(size/slowest)*time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
}

// pause waits before the request is sent again.
func (b *bucket) pause(ctx context.Context, a answer, attempt int) error {
	base := 400 * time.Millisecond
	if a == conflict {
		base = 50 * time.Millisecond
	}
	select {
	case <-b.clock.After(fault.Backoff(base, attempt, b.ids.Jitter())):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notKnown is the error of a write whose outcome nobody knows.
func notKnown(err error) error {
	if err == nil {
		return destination.ErrUndecided
	}
	return fmt.Errorf("%w: %w", destination.ErrUndecided, err)
}
