// Package destination is the seam to the object stores: a bucket and prefix
// that runs write into. Layer: L2 (execution).
//
// Drivers live below this package and pass destinationtest.
package destination

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Store is a bucket and prefix that runs write into. Keys are relative to the
// prefix and use "/" on every platform.
//
// Every method wraps its error in [*OpError], so callers test the cause with
// [errors.Is] and never parse a message. Every write is one whole object: a
// reader sees all of it or none (ADR-0004, M7). A Store is safe for concurrent
// use.
type Store interface {
	// Create stores body at key if nothing is stored there.
	//
	// ErrExists means that another object is there and body was not stored by
	// this call: it may still be this caller's, from an attempt whose answer
	// was lost. ErrUndecided means that the store answered neither yes nor no
	// (a lost response, S3's 409 five times over): read the key before
	// concluding.
	Create(ctx context.Context, key string, body []byte, m Meta) (Version, error)

	// Replace stores body at key if the object there is still at version prev;
	// Absent means that nothing may be there.
	//
	// ErrMoved means that someone else wrote first, or the key is gone, and
	// body was not stored by this call. ErrUndecided as for Create.
	Replace(ctx context.Context, key string, prev Version, body []byte, m Meta) (Version, error)

	// Get reads a whole small object: control objects, never parts by the
	// thousand. ErrNotFound if nothing is there; ErrTooLarge above limit bytes.
	Get(ctx context.Context, key string, limit int64) ([]byte, Version, error)

	// Head describes the object at key. ErrNotFound if nothing is there.
	Head(ctx context.Context, key string) (Object, error)

	// List calls fn for every object whose key starts with prefix, in
	// ascending order of keys, however many there are. An error of fn ends the
	// listing and is returned as it is. The prefix is a folder ("a/b/") or the
	// start of a name in one ("a/part-0"); "a/b" also lists "a/bc".
	List(ctx context.Context, prefix string, fn func(Object) error) error

	// Move copies the object at from, if it is still at version prev, to to,
	// if nothing is there, and then deletes from. It is the only deletion
	// there is, and nobody relies on its being atomic: quarantine only (M9).
	// An equal object at to is the first half of a Move that was cut short,
	// which this one completes; any other is ErrExists. ErrNotFound and
	// ErrMoved speak of from.
	Move(ctx context.Context, from, to string, prev Version) error

	// Capabilities says what this store guarantees (ADR-0004).
	Capabilities() Capabilities
}

// Version identifies the bytes at a key at one time. Where
// Capabilities.VersionIsUnique is false, equal bytes have equal versions, so
// every body that is replaced must be unique (architecture §2.1). It means
// something to its own store only: hand it back. A listing may spell it
// differently from the other methods, so that listing need not read objects.
type Version string

// Absent is the version of a key that holds nothing.
const Absent Version = ""

// Meta goes with an object. Zero fields are unknown.
type Meta struct {
	ContentType string
	// Fingerprint and MD5 are of the body. A store that can verify one of them
	// on receipt does.
	Fingerprint contract.Fingerprint
	MD5         string
	// User holds lapstrake-* entries, lower-case ASCII, where the store keeps
	// them (Capabilities.KeepsMeta).
	User map[string]string
}

// Object describes what is stored at a key. Unknown checksums are empty: a
// checksum is reported only when the store vouches for it, never an ETag that
// looks like one (DST-01).
type Object struct {
	Key         string
	Size        int64
	Version     Version
	Fingerprint contract.Fingerprint
	MD5         string
	// User is set by Head only.
	User map[string]string
}

// Capabilities is what a store guarantees, so that callers adapt without
// knowing the driver.
type Capabilities struct {
	// CommitProtocol is "Atomic" or "FinalizeOnClose" (ADR-0004).
	CommitProtocol string
	// StoreChecksum names the checksum that the store verifies and returns,
	// "xxh3", "md5", "crc32c" or "" for none: verify: content needs one.
	StoreChecksum string
	// ListChecksum is true when List reports checksums, false when only Head
	// does.
	ListChecksum bool
	// VersionIsUnique is true when no two writes ever have the same version.
	VersionIsUnique bool
	// KeepsMeta is true when Head returns what was stored in Meta.User.
	KeepsMeta bool
}

// Causes of failures, to be tested with errors.Is.
var (
	ErrExists       = errors.New("an object is already there")
	ErrMoved        = errors.New("the object has changed since it was read")
	ErrUndecided    = errors.New("the store did not say whether it stored the object")
	ErrNotFound     = errors.New("no such object")
	ErrTooLarge     = errors.New("the object is larger than expected")
	ErrInvalid      = errors.New("not a valid key or metadata")
	ErrFull         = errors.New("the destination is full")
	ErrNoBucket     = errors.New("the bucket or folder does not exist")
	ErrDenied       = errors.New("the store denies access")
	ErrUnavailable  = errors.New("the store is not available")
	ErrUnsafe       = errors.New("the store ignores preconditions")
	ErrCorrupted    = errors.New("the store received other bytes than were sent")
	ErrNotSupported = errors.New("not supported by this store")
)

// OpError says which operation on which object failed, and why.
type OpError struct {
	Op    string // "create", "replace", "get", "head", "list", "move", "open"
	Store string // the store's URI, without credentials
	Key   string
	Err   error
}

func (e *OpError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s %s: %v", e.Op, e.Store, e.Err)
	}
	return fmt.Sprintf("%s %s in %s: %v", e.Op, e.Key, e.Store, e.Err)
}

func (e *OpError) Unwrap() error { return e.Err }

// Opener opens the store of a location. The handlers get one, so that they
// know no driver.
type Opener interface {
	Open(ctx context.Context, at wire.Location) (Store, error)
}

// OpenerFunc is a function as an Opener.
type OpenerFunc func(ctx context.Context, at wire.Location) (Store, error)

// Open calls f.
func (f OpenerFunc) Open(ctx context.Context, at wire.Location) (Store, error) { return f(ctx, at) }
