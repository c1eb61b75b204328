// Package embedded is a runstate.Table in one file, for runs in one process:
// one write transaction is one conditional operation. Layer: L3 (persistence).
//
// One process holds the file while it is open. The file coordinates work in
// flight only: deleting it between two runs loses nothing, because fence and
// cursor are in the destination (D1).
package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transacted"
)

// KeepRuns is how long a run that has ended is remembered (§2.3).
const KeepRuns = 30 * 24 * time.Hour

// layoutVersion is that of buckets and keys.
const layoutVersion = 1

// Options are all optional.
type Options struct {
	// Now is the time of opening: runs that ended KeepRuns before it are
	// forgotten. Nothing is forgotten if it is zero.
	Now time.Time
	// LockWait is how long to wait for another process to let go of the file;
	// 0 is a fifth of a second.
	LockWait time.Duration
	// FaninK is how many tasks a shard holds in a new file; 0 is
	// runstate.DefaultFaninK. A file that is there keeps its own.
	FaninK int

	noSync bool // tests that do not test durability
}

// Table is a runstate.Table. Close it to let go of the file.
type Table struct {
	transacted.Table
	db     *bbolt.DB
	holder string
}

var _ runstate.Table = (*Table)(nil)

// Open opens the table in the file at path, and makes file and folder if they
// are missing. Only the owner may read it.
//
// Another process that has it open is a *fault.Error of class Busy with code
// LAPSTRAKE_STATE_LOCKED, which names that process. Holding the lock proves
// that nobody works on the runs in the file, so every lease in it is marked
// expired: what a killed process left is taken up at once. Only how soon work
// is repeated depends on that; tokens still decide whose work counts.
func Open(path string, o Options) (*Table, error) {
	if o.LockWait == 0 {
		o.LockWait = 200 * time.Millisecond
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unusable(path, err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: o.LockWait, NoSync: o.noSync, FreelistType: bbolt.FreelistMapType})
	t := &Table{db: db, holder: path + ".pid"}
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return nil, locked(path, t.holder)
	case err != nil:
		return nil, unusable(path, err)
	}
	// The process id is for the message of whoever finds the file locked.
	if err := os.WriteFile(t.holder, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(unusable(path, err), t.Close())
	}
	k, err := t.prepare(o)
	if err != nil {
		var refused *fault.Error
		if !errors.As(err, &refused) {
			err = unusable(path, err)
		}
		return nil, errors.Join(err, t.Close())
	}
	t.Table = transacted.New(store{db: db, k: k}, k)
	return t, nil
}

// Close lets go of the file. Operations after it fail.
func (t *Table) Close() error {
	// While the lock is held: the next holder writes its own.
	err := os.Remove(t.holder)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, t.db.Close())
}

// prepare makes the buckets and brings what an earlier process left up to
// date. It returns how many tasks a shard of this file holds.
func (t *Table) prepare(o Options) (k int, err error) {
	err = t.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		if k, err = layout(tx.Bucket(metaBucket), o.FaninK); err != nil {
			return err
		}
		if err := expireLeases(tx); err != nil {
			return err
		}
		if o.Now.IsZero() {
			return nil
		}
		return forget(tx, o.Now.Add(-KeepRuns))
	})
	return k, err
}

// layout reads the layout's version and shard size, or writes them into a new
// file.
func layout(meta *bbolt.Bucket, wantedK int) (k int, err error) {
	if meta.Get([]byte("version")) == nil {
		if wantedK <= 0 {
			wantedK = runstate.DefaultFaninK
		}
		return wantedK, errors.Join(putNumber(meta, "version", layoutVersion), putNumber(meta, "fanin_k", uint64(wantedK)))
	}
	if v := number(meta, "version"); v != layoutVersion {
		return 0, fault.New(fault.Refused, "LAPSTRAKE_STATE_LAYOUT",
			"the state file has layout %d and this program reads %d: finish its runs with the program that made it, or delete it. That loses work in flight only", v, layoutVersion)
	}
	return int(number(meta, "fanin_k")), nil
}

func putNumber(b *bbolt.Bucket, key string, n uint64) error {
	return b.Put([]byte(key), binary.BigEndian.AppendUint64(nil, n))
}

func number(b *bbolt.Bucket, key string) uint64 {
	if v := b.Get([]byte(key)); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func locked(path, holder string) error {
	who := "another process"
	if b, err := os.ReadFile(holder); err == nil {
		if pid := strings.TrimSpace(string(b)); pid != "" {
			who = "process " + pid
		}
	}
	return fault.New(fault.Busy, "LAPSTRAKE_STATE_LOCKED",
		"%s has the state file %s open; nothing was started. Wait until it ends, or give this run a file of its own with --state", who, path)
}

func unusable(path string, err error) error {
	return &fault.Error{Class: fault.Permanent, Code: "LAPSTRAKE_STATE_UNUSABLE", Err: err,
		Message: fmt.Sprintf("the state file %s cannot be used; deleting it loses work in flight only, cursor and delivered data are in the destination", path)}
}
