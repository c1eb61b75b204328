package localdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Create implements [destination.Store].
func (s *Store) Create(ctx context.Context, key string, body []byte, m destination.Meta) (destination.Version, error) {
	v, err := s.create(ctx, key, body, m, destination.ErrExists)
	return v, s.failed("create", key, err)
}

func (s *Store) create(ctx context.Context, key string, body []byte, m destination.Meta, lost error) (destination.Version, error) {
	version, err := verify(ctx, key, body, m)
	if err != nil {
		return "", err
	}
	switch info, err := s.look(key); { // spares a refused writer the body
	case err != nil:
		return "", err
	case info != nil:
		return "", taken(info, lost)
	}
	temp, err := s.writeTemp(ctx, path.Dir(key), body)
	if err != nil {
		return "", err
	}
	defer s.root.Remove(temp)
	if err := s.at("link"); err != nil {
		return "", err
	}
	// Unlike rename, link never takes the place of another file.
	if err := s.root.Link(temp, key); err != nil {
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("give the object its name: %w", err)
		}
		info, err := s.look(key)
		if err != nil {
			return "", err
		}
		return "", taken(info, lost)
	}
	return version, s.settle(path.Dir(key))
}

// Replace implements [destination.Store]. The lock makes the comparison and the
// change one step for every process that works on this folder.
func (s *Store) Replace(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta) (destination.Version, error) {
	if prev == destination.Absent {
		v, err := s.create(ctx, key, body, m, destination.ErrMoved)
		return v, s.failed("replace", key, err)
	}
	v, err := s.replace(ctx, key, prev, body, m)
	return v, s.failed("replace", key, err)
}

func (s *Store) replace(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta) (destination.Version, error) {
	version, err := verify(ctx, key, body, m)
	if err != nil {
		return "", err
	}
	switch info, err := s.look(key); {
	case err != nil:
		return "", err
	case info == nil:
		return "", destination.ErrMoved // and no folder is made for it
	}
	temp, err := s.writeTemp(ctx, path.Dir(key), body)
	if err != nil {
		return "", err
	}
	err = s.locked(ctx, func() error {
		if err := s.isAt(ctx, key, prev); err != nil {
			return err
		}
		return s.root.Rename(temp, key)
	})
	if err != nil {
		_ = s.root.Remove(temp)
		if errors.Is(err, destination.ErrNotFound) {
			return "", destination.ErrMoved
		}
		return "", err
	}
	return version, s.settle(path.Dir(key))
}

// Move implements [destination.Store].
func (s *Store) Move(ctx context.Context, from, to string, prev destination.Version) error {
	for _, key := range []string{from, to} {
		if err := check(ctx, key); err != nil {
			return s.failed("move", key, err)
		}
	}
	key := from // which the error is about
	err := s.locked(ctx, func() (err error) {
		key, err = s.move(ctx, from, to, prev)
		return err
	})
	if err == nil {
		err = s.settle(path.Dir(from))
	}
	return s.failed("move", key, err)
}

// move gives the file its second name, for good, before it takes away the
// first. It returns the key that its error is about.
func (s *Store) move(ctx context.Context, from, to string, prev destination.Version) (string, error) {
	if err := s.isAt(ctx, from, prev); err != nil {
		return from, err
	}
	if err := s.makeFolder(path.Dir(to)); err != nil {
		return to, err
	}
	err := s.root.Link(from, to)
	if errors.Is(err, os.ErrExist) {
		err = s.sameContent(ctx, from, to)
	}
	if err == nil {
		err = s.syncFolder(path.Dir(to))
	}
	if err != nil {
		return to, err
	}
	return from, s.root.Remove(from)
}

// sameContent returns ErrExists unless two keys hold the same bytes.
func (s *Store) sameContent(ctx context.Context, a, b string) error {
	if a == b {
		return destination.ErrExists
	}
	x, err := s.describe(ctx, a)
	if err != nil {
		return err
	}
	y, err := s.describe(ctx, b)
	if err != nil {
		return err
	}
	if x.Size != y.Size || x.Fingerprint != y.Fingerprint {
		return destination.ErrExists
	}
	return nil
}

// taken tells an object from something else that has its name. The winner of a
// race may be gone again: info is nil then.
func taken(info os.FileInfo, lost error) error {
	if info != nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: a %s has the name", destination.ErrNotSupported, kind(info))
	}
	return lost
}

// verify checks what the caller says about the body, and returns the version
// that it will have.
func verify(ctx context.Context, key string, body []byte, m destination.Meta) (destination.Version, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	if err := m.Check(); err != nil {
		return "", err
	}
	is := contract.FingerprintOf(body)
	switch {
	case m.Fingerprint != "" && m.Fingerprint != is:
		return "", fmt.Errorf("%w: they have the fingerprint %s, not %s", destination.ErrCorrupted, is, m.Fingerprint)
	case m.Fingerprint == "" && m.MD5 != "" && m.MD5 != contract.MD5Base64(body):
		return "", fmt.Errorf("%w: they do not have the MD5 %s", destination.ErrCorrupted, m.MD5)
	}
	return destination.Version(is), nil
}

var tempNumber atomic.Uint64

// writeTemp stores body under a name that nobody reads, in the folder of its
// final name, and returns that name. The bytes are on the disk.
func (s *Store) writeTemp(ctx context.Context, folder string, body []byte) (string, error) {
	if err := s.makeFolder(folder); err != nil {
		return "", err
	}
	if err := s.at("open"); err != nil {
		return "", err
	}
	f, name, err := s.openTemp(folder)
	if errors.Is(err, os.ErrNotExist) { // somebody has removed the folder
		s.ready.Clear()
		if err := s.makeFolder(folder); err != nil {
			return "", err
		}
		f, name, err = s.openTemp(folder)
	}
	if err != nil {
		return "", err
	}
	err = errors.Join(s.fill(ctx, f, body), f.Close())
	if err != nil {
		_ = s.root.Remove(name)
		return "", err
	}
	return name, nil
}

// fill writes body to f and to the disk.
func (s *Store) fill(ctx context.Context, f *os.File, body []byte) error {
	const piece = 8 << 20 // between two pieces a cancelled caller is let go
	for part := range slices.Chunk(body, piece) {
		if err := errors.Join(ctx.Err(), s.at("write")); err != nil {
			return err
		}
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	if err := s.at("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// openTemp makes a file that is not there. A name that a killed process of the
// same number has left is passed over.
func (s *Store) openTemp(folder string) (*os.File, string, error) {
	for {
		name := path.Join(folder, fmt.Sprintf(".%d-%d%s", os.Getpid(), tempNumber.Add(1), tempSuffix))
		f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, os.ErrExist) {
			return f, name, err
		}
	}
}

// settle makes the names in a folder durable. If that fails, the change can be
// seen and may yet be lost in a power failure.
func (s *Store) settle(folder string) error {
	err := s.at("settle")
	if err == nil {
		err = s.syncFolder(folder)
	}
	if err != nil {
		return fmt.Errorf("%w: sync the folder: %w", destination.ErrUndecided, err)
	}
	return nil
}

func (s *Store) syncFolder(folder string) error {
	f, err := s.root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}

func syncFolder(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system that has no such thing
	}
	return err
}
