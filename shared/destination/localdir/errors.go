package localdir

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// causes says what the answers of the file system mean. Whatever is not here
// stays as it is and may be tried again.
var causes = []struct {
	errno error
	cause error
}{
	{unix.ENOSPC, destination.ErrFull},
	{unix.EDQUOT, destination.ErrFull},
	{unix.EFBIG, destination.ErrFull},
	{unix.EACCES, destination.ErrDenied},
	{unix.EPERM, destination.ErrDenied},
	{unix.EROFS, destination.ErrDenied},
	{unix.ELOOP, destination.ErrDenied},
	{unix.ENAMETOOLONG, destination.ErrInvalid},
	{unix.ENOTDIR, destination.ErrNotSupported}, // a file is where a folder would have to be
	{unix.EISDIR, destination.ErrNotSupported},
	{unix.EXDEV, destination.ErrNotSupported},
	{unix.ENOTSUP, destination.ErrNotSupported},
	{unix.ENOSYS, destination.ErrNotSupported},
	{unix.EIO, destination.ErrUnavailable},
	{unix.EMFILE, destination.ErrUnavailable},
	{unix.ENFILE, destination.ErrUnavailable},
	{unix.ENOLCK, destination.ErrUnavailable},
	{unix.ESTALE, destination.ErrUnavailable},
	{os.ErrNotExist, destination.ErrNoBucket}, // reads have turned it into ErrNotFound
}

// failed wraps err with what was done, and gives it its cause.
func (s *Store) failed(op, key string, err error) error {
	if err == nil {
		return nil
	}
	for _, c := range causes {
		if errors.Is(err, c.errno) && !errors.Is(err, c.cause) {
			err = fmt.Errorf("%w: %w", c.cause, err)
			break
		}
	}
	return &destination.OpError{Op: op, Store: s.uri, Key: key, Err: err}
}
