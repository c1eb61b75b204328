// Command lapstrake runs exports in one process, with the same handlers as the
// functions on a cloud, and looks after what they leave.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

func main() {
	ctx, received := interruptible(context.Background())
	err := execute(ctx, streams{out: os.Stdout, err: os.Stderr}, os.Args[1:])
	os.Exit(exitCode(err, received.Load()))
}

// interruptible cancels the context at the first SIGINT or SIGTERM, with cause
// ErrInterrupted, and ends the process at the second.
func interruptible(parent context.Context) (context.Context, *atomic.Int32) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	received := new(atomic.Int32)
	go func() {
		s := <-signals
		received.Store(128 + signalNumber(s))
		cancel(wiring.ErrInterrupted)
		s = <-signals
		os.Exit(int(128 + signalNumber(s)))
	}()
	return ctx, received
}

func signalNumber(s os.Signal) int32 {
	if n, ok := s.(syscall.Signal); ok {
		return int32(n)
	}
	return 0
}

// interrupted says of a failure that comes from a signal that it does: whatever
// was at work then says only that it could not go on.
func interrupted(ctx context.Context, err error) error {
	if !errors.Is(context.Cause(ctx), wiring.ErrInterrupted) || errors.Is(err, wiring.ErrInterrupted) || err == nil || !fault.Retry(err) {
		return err
	}
	return fmt.Errorf("%w: %w", wiring.ErrInterrupted, err)
}

// exitCode is 130 or 143 after a signal, and otherwise the error's.
func exitCode(err error, bySignal int32) int {
	if bySignal != 0 && errors.Is(err, wiring.ErrInterrupted) {
		return int(bySignal)
	}
	return fault.ExitCode(err)
}
