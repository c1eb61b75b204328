package localdir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/destinationtest"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), wire.Location{Kind: "local", URI: "file://" + dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A folder is Atomic (ADR-0004 of the contract): a write that returned is whole,
// one that failed left nothing. That it keeps this is in the other tests.
func TestTheFolderDeclaresItsContract(t *testing.T) {
	want := destination.Capabilities{CommitProtocol: "Atomic", StoreChecksum: "xxh3"}
	if got := open(t, t.TempDir()).Capabilities(); got != want {
		t.Errorf("the folder declares %+v, want %+v", got, want)
	}
}

func TestLocaldirIsAStore(t *testing.T) {
	destinationtest.Run(t, func(t *testing.T) destination.Store { return open(t, t.TempDir()) })
	destinationtest.RunInterleaved(t, func(t *testing.T) destinationtest.OpenVia {
		dir := t.TempDir()
		return func(t *testing.T, before func()) destination.Store {
			s := open(t, dir)
			s.step = func(string) error {
				if before != nil {
					before()
				}
				return nil
			}
			return s
		}
	})
	destinationtest.RunMissing(t, func(t *testing.T) (destination.Store, error) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return Open(t.Context(), wire.Location{Kind: "local", URI: file + "/exports"})
	})
}

func TestOpenMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a 100%", "b")
	for _, uri := range []string{"file://" + dir, dir} {
		s, err := Open(t.Context(), wire.Location{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", uri, err)
		}
		if want := "file://" + dir; s.uri != want {
			t.Errorf("the store calls itself %q, want %q", s.uri, want)
		}
	}
	for _, uri := range []string{"", "file://", "s3://bucket/x"} {
		if _, err := Open(t.Context(), wire.Location{URI: uri}); fault.ClassOf(err) != fault.Usage {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

func TestAFolderThatIsGoneIsNoBucket(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "exports")
	s := open(t, dir)
	if _, err := s.Create(t.Context(), "a/k", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a/k", "k"} {
		if _, err := s.Create(t.Context(), key, []byte("x"), destination.Meta{}); !errors.Is(err, destination.ErrNoBucket) {
			t.Errorf("create %s: %v", key, err)
		}
	}
}

func TestAFolderThatWasRemovedIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for range 2 {
		if _, err := s.Create(t.Context(), "a/b/k", []byte("x"), destination.Meta{}); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
	}
}

// Links are refused wherever they stand, and lead nowhere.
func TestSymbolicLinksAreNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	s := open(t, dir)
	v, err := s.Create(t.Context(), "real/k", []byte("inside"), destination.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "k"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"out-folder": outside, "out-file": filepath.Join(outside, "k"), "up": "..",
		"in-folder": "real", "in-file": "real/k", "dangling": "nothing",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	for _, key := range []string{"out-folder/k", "out-folder/new", "out-file", "up/k", "in-folder/k", "in-folder/new", "in-file", "dangling"} {
		body, _, err := s.Get(ctx, key, 100)
		if !errors.Is(err, destination.ErrDenied) {
			t.Errorf("get %s = %q, %v", key, body, err)
		}
		if _, err := s.Head(ctx, key); !errors.Is(err, destination.ErrDenied) {
			t.Errorf("head %s: %v", key, err)
		}
		if _, err := s.Create(ctx, key, []byte("x"), destination.Meta{}); !errors.Is(err, destination.ErrDenied) {
			t.Errorf("create %s: %v", key, err)
		}
		if _, err := s.Replace(ctx, key, v, []byte("x"), destination.Meta{}); !errors.Is(err, destination.ErrDenied) {
			t.Errorf("replace %s: %v", key, err)
		}
		if err := s.Move(ctx, "real/k", key, v); err == nil {
			t.Errorf("move to %s succeeded", key)
		}
	}
	var got []string
	if err := s.List(ctx, "", func(o destination.Object) error { got = append(got, o.Key); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"real/k"}; !slices.Equal(got, want) {
		t.Errorf("list = %q, want %q", got, want)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("outside of the folder there is now %v", left)
	}
}

func TestWhatIsNoObjectIsNotTakenForOne(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(ctx, "pipe", 100); !errors.Is(err, destination.ErrNotSupported) {
		t.Errorf("get of a pipe: %v", err)
	}
	if _, err := s.Create(ctx, "folder/k", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"folder", "pipe", "folder/k/below"} {
		if _, err := s.Create(ctx, key, []byte("x"), destination.Meta{}); !errors.Is(err, destination.ErrNotSupported) || errors.Is(err, destination.ErrExists) {
			t.Errorf("create %s: %v", key, err)
		}
	}
}

func TestTheDriversOwnFilesAreNoObjects(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	v, err := s.Create(t.Context(), "a/k", []byte("1"), destination.Meta{})
	if err == nil {
		_, err = s.Replace(t.Context(), "a/k", v, []byte("2"), destination.Meta{}) // leaves a lock file
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a", ".4711-1.lapstrake-tmp"), []byte("left by a killed process"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.List(t.Context(), "", func(o destination.Object) error { got = append(got, o.Key); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/k"}; !slices.Equal(got, want) {
		t.Errorf("list = %q, want %q", got, want)
	}
	for _, key := range []string{lockKey, "a/.4711-1.lapstrake-tmp"} {
		if _, err := s.Head(t.Context(), key); !errors.Is(err, destination.ErrInvalid) {
			t.Errorf("head %s: %v", key, err)
		}
	}
}

// A step that fails leaves nothing behind, neither at the final name nor beside
// it, and the error has its class (OPS-04).
func TestAFailedWriteLeavesNothing(t *testing.T) {
	for _, tc := range []struct {
		step  string
		errno error
		want  error
		lands bool
	}{
		{"open", unix.ENOSPC, destination.ErrFull, false},
		{"write", unix.ENOSPC, destination.ErrFull, false},
		{"write", unix.EDQUOT, destination.ErrFull, false},
		{"sync", unix.EIO, destination.ErrUnavailable, false},
		{"link", unix.EROFS, destination.ErrDenied, false},
		{"settle", unix.EIO, destination.ErrUndecided, true},
	} {
		t.Run(tc.step+" "+tc.errno.Error(), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			s.step = func(step string) error {
				if step == tc.step {
					return tc.errno
				}
				return nil
			}
			_, err := s.Create(t.Context(), "a/k", make([]byte, 20<<20), destination.Meta{})
			if !errors.Is(err, tc.want) || !errors.Is(err, tc.errno) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
			if want := map[bool]int{false: 0, true: 1}[tc.lands]; len(names(t, dir)) != want {
				t.Errorf("left behind: %q", names(t, dir))
			}
		})
	}
}

// names returns every file below dir, the driver's own included.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
