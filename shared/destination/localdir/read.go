package localdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Get implements [destination.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) ([]byte, destination.Version, error) {
	body, err := s.get(ctx, key, limit)
	if err != nil {
		return nil, "", s.failed("get", key, err)
	}
	return body, destination.Version(contract.FingerprintOf(body)), nil
}

func (s *Store) get(ctx context.Context, key string, limit int64) ([]byte, error) {
	f, info, err := s.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", destination.ErrTooLarge, info.Size(), limit)
	}
	body := make([]byte, info.Size())
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, err
	}
	return body, nil
}

// Head implements [destination.Store]. It reads the whole file.
func (s *Store) Head(ctx context.Context, key string) (destination.Object, error) {
	o, err := s.describe(ctx, key)
	if err != nil {
		return destination.Object{}, s.failed("head", key, err)
	}
	return o, nil
}

func (s *Store) describe(ctx context.Context, key string) (destination.Object, error) {
	f, info, err := s.open(ctx, key)
	if err != nil {
		return destination.Object{}, err
	}
	defer f.Close()
	print, err := fingerprint(ctx, f)
	if err != nil {
		return destination.Object{}, err
	}
	return destination.Object{Key: key, Size: info.Size(), Version: destination.Version(print), Fingerprint: print}, nil
}

// fingerprint hashes a file in bounded memory.
func fingerprint(ctx context.Context, f *os.File) (contract.Fingerprint, error) {
	hash := xxh3.New()
	for buf := make([]byte, 1<<20); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		hash.Write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			return contract.ParseFingerprint(fmt.Sprintf("xxh3:%016x", hash.Sum64()))
		case err != nil:
			return "", err
		}
	}
}

// isAt returns nil if key holds prev, else ErrNotFound or ErrMoved. prev may
// come from a listing.
func (s *Store) isAt(ctx context.Context, key string, prev destination.Version) error {
	f, info, err := s.open(ctx, key)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasPrefix(string(prev), listed) {
		if listedVersion(info) != prev {
			return destination.ErrMoved
		}
		return nil
	}
	is, err := fingerprint(ctx, f)
	if err == nil && destination.Version(is) != prev {
		return destination.ErrMoved
	}
	return err
}

// open opens the object at key, or returns ErrNotFound.
func (s *Store) open(ctx context.Context, key string) (*os.File, os.FileInfo, error) {
	if err := check(ctx, key); err != nil {
		return nil, nil, err
	}
	info, err := s.look(key)
	if err == nil && info == nil {
		err = destination.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	// Without O_NONBLOCK a named pipe would wait for its writer.
	f, err := s.root.OpenFile(key, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if isMissing(err) {
		return nil, nil, destination.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat() // of what is open: the name may have moved on
	switch {
	case err != nil:
	case info.IsDir():
		err = destination.ErrNotFound
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: it is a %s", destination.ErrNotSupported, kind(info))
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// List implements [destination.Store]. Versions in it are made from the file's
// identity, so that no file is read.
func (s *Store) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	if err := destination.CheckPrefix(prefix); err != nil {
		return s.failed("list", prefix, err)
	}
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if folder != "" {
		info, err := s.look(strings.TrimSuffix(folder, "/"))
		if err != nil || info == nil {
			return s.failed("list", prefix, err)
		}
	}
	var stopped error
	err := s.walk(ctx, folder, prefix, func(o destination.Object) error {
		stopped = fn(o)
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	return s.failed("list", prefix, err)
}

// entry is a name in a folder; a folder's name ends with a slash, which is what
// puts whole keys in order: "a-b" comes before "a/b".
type entry struct {
	name string
	dir  bool
}

// walk calls fn for the objects in folder ("" or ending with a slash) and below
// whose keys start with prefix.
func (s *Store) walk(ctx context.Context, folder, prefix string, fn func(destination.Object) error) error {
	entries, err := s.entries(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		key := folder + e.name
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if e.dir {
			if err := s.walk(ctx, key, prefix, fn); err != nil {
				return err
			}
			continue
		}
		info, err := s.root.Lstat(key)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue // moved since the folder was read
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			continue
		}
		if err := fn(destination.Object{Key: key, Size: info.Size(), Version: listedVersion(info)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) entries(folder string) ([]entry, error) {
	f, err := s.root.Open(cmp.Or(strings.TrimSuffix(folder, "/"), "."))
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(found))
	for _, e := range found {
		switch key := folder + e.Name(); {
		case isTemp(e.Name()), key == lockKey:
		case e.IsDir():
			entries = append(entries, entry{name: e.Name() + "/", dir: true})
		default:
			entries = append(entries, entry{name: e.Name()})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, nil
}

const listed = "file:"

// listedVersion identifies a file without reading it: no two files that had one
// key share inode, size and time.
func listedVersion(info os.FileInfo) destination.Version {
	var inode uint64
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = st.Ino
	}
	return destination.Version(fmt.Sprintf("%s%d-%d-%d", listed, inode, info.Size(), info.ModTime().UnixNano()))
}
