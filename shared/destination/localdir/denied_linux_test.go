package localdir

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// asOrdinaryUser calls do without root's right to write everywhere: file system
// calls of this thread, which ends with do, are made as another user.
func asOrdinaryUser(t *testing.T, do func()) {
	if os.Geteuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked, so the thread ends
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func TestAReadOnlyFolderIsDenied(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	v, err := s.Create(t.Context(), "k", []byte("x"), destination.Meta{})
	if err == nil {
		_, err = s.Replace(t.Context(), "k", v, []byte("y"), destination.Meta{})
	}
	if err == nil {
		err = os.Chmod(dir, 0o555)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	asOrdinaryUser(t, func() {
		ctx := t.Context()
		if body, v, err := s.Get(ctx, "k", 10); err != nil || string(body) != "y" {
			t.Errorf("get = %q at %q, %v", body, v, err)
		}
		_, err := s.Create(ctx, "new", []byte("x"), destination.Meta{})
		if !errors.Is(err, destination.ErrDenied) {
			t.Errorf("create: %v", err)
		}
		_, err = s.Create(ctx, "folder/new", []byte("x"), destination.Meta{})
		if !errors.Is(err, destination.ErrDenied) {
			t.Errorf("create in a new folder: %v", err)
		}
		_, err = s.Replace(ctx, "k", v, []byte("z"), destination.Meta{})
		if !errors.Is(err, destination.ErrDenied) {
			t.Errorf("replace: %v", err)
		}
		if err := s.Move(ctx, "k", "z", v); err == nil {
			t.Error("move succeeded")
		}
		if _, err := Open(ctx, wire.Location{URI: dir + "/new"}); !errors.Is(err, destination.ErrDenied) {
			t.Errorf("open of a folder that cannot be made: %v", err)
		}
	})
	if got := names(t, dir); len(got) != 2 { // k and the lock
		t.Errorf("left behind: %q", got)
	}
}
