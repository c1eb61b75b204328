package localdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// makeFolder makes a folder below the root, and its parents, for good: a folder
// that another process has just made is synced here, too, once, before anything
// in it is answered as stored.
func (s *Store) makeFolder(folder string) error {
	if folder == "." {
		return nil
	}
	if _, ok := s.ready.Load(folder); ok {
		return nil
	}
	parent := path.Dir(folder)
	if err := s.makeFolder(parent); err != nil {
		return err
	}
	if err := s.root.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := s.look(folder)
	switch {
	case err != nil:
		return err
	case info == nil:
		return fmt.Errorf("%s: %w", folder, os.ErrNotExist)
	case !info.IsDir():
		return fmt.Errorf("%w: %s is a %s, not a folder", destination.ErrNotSupported, folder, kind(info))
	}
	if err := s.syncFolder(parent); err != nil {
		return err
	}
	s.ready.Store(folder, true)
	return nil
}

// locked calls do while it holds the folder's lock, which holds off the other
// stores of this process and all other processes. The lock ends with the
// process that holds it.
func (s *Store) locked(ctx context.Context, do func() error) error {
	if err := s.at("lock"); err != nil {
		return err
	}
	if err := s.makeFolder(path.Dir(lockKey)); err != nil {
		return fmt.Errorf("lock the folder: %w", err)
	}
	f, err := s.root.OpenFile(lockKey, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("lock the folder: %w", err)
	}
	got := make(chan error, 1)
	go func() { got <- flock(f) }()
	select {
	case err := <-got:
		defer f.Close() // the lock goes with the file
		if err != nil {
			return fmt.Errorf("lock the folder: %w", err)
		}
		return do()
	case <-ctx.Done():
		go func() {
			<-got
			f.Close()
		}()
		return fmt.Errorf("lock the folder: %w", ctx.Err())
	}
}

func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// look returns what has the name of a key, nil for nothing. A key that is, or
// is reached through, a symbolic link is refused: what it means may change
// under our hands. [os.Root] follows one that is put there this very moment, but
// never out of the folder.
func (s *Store) look(key string) (os.FileInfo, error) {
	for i := range len(key) + 1 {
		if i < len(key) && key[i] != '/' {
			continue
		}
		info, err := s.root.Lstat(key[:i])
		switch {
		case isMissing(err):
			return nil, nil
		case err != nil:
			return nil, err
		case info.Mode()&os.ModeSymlink != 0:
			return nil, fmt.Errorf("%w: %s is a symbolic link", destination.ErrDenied, key[:i])
		case i == len(key):
			return info, nil
		}
	}
	return nil, nil
}

// isMissing reports whether err says that nothing has that name.
func isMissing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

func kind(info os.FileInfo) string {
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return "symbolic link"
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	}
	return "special file"
}
