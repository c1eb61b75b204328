// Package localdir is a destination in a folder of the local file system.
// Layer: L2 (execution).
//
// An object is a regular file, written beside its final name and given that
// name in one step, so a reader, or a process that dies, leaves all of it there
// or nothing (DST-18). What was answered as stored survives a power failure:
// file and folder are synced first.
//
// Writers of one folder must open it by the same path: its lock is a file below
// it. Folders on a file system without hard links or flock are refused when
// first written to.
package localdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Store is a folder. Symbolic links below it are not followed: List does not
// show them and the other methods refuse them.
type Store struct {
	root *os.Root
	uri  string
	// ready holds the folders that are known to exist for good.
	ready sync.Map

	// step, in tests, is called before each step on the file system that does
	// not happen under the lock, and its error is the step's.
	step func(name string) error
}

var _ destination.Store = (*Store)(nil)

// Open returns the folder of a location, file:///path or a plain path, which is
// taken as it is, without decoding. A folder that does not exist is made, with
// its parents.
func Open(_ context.Context, at wire.Location) (*Store, error) {
	path := strings.TrimPrefix(at.URI, "file://")
	if path == "" || strings.Contains(path, "://") || strings.ContainsRune(path, 0) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_URI", "destination %q is not a local folder: want file:///path", at.URI)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, &destination.OpError{Op: "open", Store: at.URI, Err: err}
	}
	s := &Store{uri: "file://" + path}
	if err := makeRoot(path); err != nil {
		return nil, s.failed("open", "", fmt.Errorf("make the folder: %w", err))
	}
	if s.root, err = os.OpenRoot(path); err != nil {
		return nil, s.failed("open", "", err)
	}
	return s, nil
}

// Capabilities implements [destination.Store]. The checksum that Head returns
// is of the bytes that are in the file now: Head reads it, so it vouches for
// the content as well as a store that verified it on receipt.
func (s *Store) Capabilities() destination.Capabilities {
	return destination.Capabilities{CommitProtocol: "Atomic", StoreChecksum: "xxh3"}
}

// makeRoot makes a folder and its parents, for good.
func makeRoot(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil, errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%w: a file is in its place or above it", destination.ErrNoBucket)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := makeRoot(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.Open(parent)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncFolder(f)
}

// Reserved names: what the driver itself leaves in a folder.
const (
	lockKey    = "_lapstrake/.lock"
	tempSuffix = ".lapstrake-tmp"
)

func isTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix)
}

// check is CheckKey without the names that the driver uses itself.
func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := destination.CheckKey(key); err != nil {
		return err
	}
	if key == lockKey || isTemp(filepath.Base(key)) {
		return fmt.Errorf("%w: %q is a name that this store uses itself", destination.ErrInvalid, key)
	}
	return nil
}

func (s *Store) at(step string) error {
	if s.step == nil {
		return nil
	}
	return s.step(step)
}
