package destination

import (
	"errors"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// meanings gives the causes that end a piece of work their class and code. The
// answers that the protocol branches on (ErrExists, ErrMoved, ErrNotFound) have
// none: their meaning is the caller's.
var meanings = []struct {
	cause error
	class fault.Class
	code  fault.Code
}{
	{ErrUnsafe, fault.Refused, "LAPSTRAKE_DEST_UNSAFE"},
	{ErrNoBucket, fault.Permanent, "LAPSTRAKE_DEST_NO_BUCKET"},
	{ErrDenied, fault.Permanent, "LAPSTRAKE_DEST_DENIED"},
	{ErrFull, fault.Permanent, "LAPSTRAKE_DEST_FULL"},
	{ErrInvalid, fault.Permanent, "LAPSTRAKE_DEST_KEY_INVALID"},
	{ErrTooLarge, fault.Permanent, "LAPSTRAKE_DEST_TOO_LARGE"},
	{ErrNotSupported, fault.Permanent, "LAPSTRAKE_DEST_NOT_SUPPORTED"},
	{ErrCorrupted, fault.Retryable, "LAPSTRAKE_DEST_CORRUPTED"},
	{ErrUndecided, fault.Retryable, "LAPSTRAKE_DEST_UNDECIDED"},
	{ErrUnavailable, fault.Retryable, "LAPSTRAKE_DEST_UNAVAILABLE"},
}

// As lets errors.As find a *fault.Error in a store's failure, so that
// fault.ClassOf and fault.CodeOf answer for all drivers alike. A fault that the
// driver put into the chain itself is more precise and comes first.
func (e *OpError) As(target any) bool {
	found, ok := target.(**fault.Error)
	if !ok {
		return false
	}
	if errors.As(e.Err, found) {
		return true
	}
	for _, m := range meanings {
		if errors.Is(e.Err, m.cause) {
			*found = &fault.Error{Class: m.class, Code: m.code, Message: e.Error()}
			return true
		}
	}
	return false
}
