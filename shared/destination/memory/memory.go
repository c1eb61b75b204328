// Package memory is a destination in memory, for tests and the simulator.
// Layer: L2 (execution).
//
// It has neither goroutines nor a clock: what it answers depends on the order
// of the calls alone.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Kinds of stores to imitate, by what they guarantee.
var (
	// LikeS3 has versions made from content: writing A, B and A again ends at
	// the first version.
	LikeS3 = destination.Capabilities{CommitProtocol: "FinalizeOnClose", StoreChecksum: "xxh3", KeepsMeta: true}
	// LikeGCS has a version of its own for every write, and lists MD5s.
	LikeGCS = destination.Capabilities{CommitProtocol: "FinalizeOnClose", StoreChecksum: "md5", ListChecksum: true, VersionIsUnique: true, KeepsMeta: true}
)

// Store is one bucket. It behaves as its capabilities say: a checksum that it
// does not claim is neither verified nor returned, metadata that it does not
// keep is gone.
type Store struct {
	uri  string
	caps destination.Capabilities

	mu      sync.Mutex
	objects map[string]object
	writes  int
}

type object struct {
	body    []byte
	version destination.Version
	meta    destination.Meta
}

// New returns an empty bucket, which errors call uri.
func New(uri string, like destination.Capabilities) *Store {
	return &Store{uri: uri, caps: like, objects: make(map[string]object)}
}

// Create implements [destination.Store].
func (s *Store) Create(ctx context.Context, key string, body []byte, m destination.Meta) (destination.Version, error) {
	v, err := s.put(ctx, key, destination.Absent, body, m, destination.ErrExists)
	return v, s.failed("create", key, err)
}

// Replace implements [destination.Store].
func (s *Store) Replace(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta) (destination.Version, error) {
	v, err := s.put(ctx, key, prev, body, m, destination.ErrMoved)
	return v, s.failed("replace", key, err)
}

func (s *Store) put(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta, lost error) (destination.Version, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	if err := m.Check(); err != nil {
		return "", err
	}
	if err := s.verify(body, m); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key].version != prev { // a missing object has version Absent
		return "", lost
	}
	s.writes++
	o := object{body: bytes.Clone(body), meta: m, version: destination.Version(contract.FingerprintOf(body))}
	o.meta.User = maps.Clone(m.User)
	if s.caps.VersionIsUnique {
		o.version = destination.Version(fmt.Sprintf("write-%d", s.writes))
	}
	s.objects[key] = o
	return o.version, nil
}

// verify does what a store does on receipt.
func (s *Store) verify(body []byte, m destination.Meta) error {
	if s.caps.StoreChecksum == "xxh3" && m.Fingerprint != "" && m.Fingerprint != contract.FingerprintOf(body) {
		return fmt.Errorf("%w: they have the fingerprint %s, not %s", destination.ErrCorrupted, contract.FingerprintOf(body), m.Fingerprint)
	}
	if s.caps.StoreChecksum != "" && m.MD5 != "" && m.MD5 != contract.MD5Base64(body) {
		return fmt.Errorf("%w: they have the MD5 %s, not %s", destination.ErrCorrupted, contract.MD5Base64(body), m.MD5)
	}
	return nil
}

// Get implements [destination.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) ([]byte, destination.Version, error) {
	o, err := s.find(ctx, key)
	if err != nil {
		return nil, "", s.failed("get", key, err)
	}
	if size := int64(len(o.body)); size > limit {
		return nil, "", s.failed("get", key, fmt.Errorf("%w: %d bytes, at most %d are read", destination.ErrTooLarge, size, limit))
	}
	return bytes.Clone(o.body), o.version, nil
}

// Head implements [destination.Store].
func (s *Store) Head(ctx context.Context, key string) (destination.Object, error) {
	o, err := s.find(ctx, key)
	if err != nil {
		return destination.Object{}, s.failed("head", key, err)
	}
	out := s.describe(key, o, true)
	if s.caps.KeepsMeta {
		out.User = maps.Clone(o.meta.User)
	}
	return out, nil
}

// List implements [destination.Store]. It shows the keys of the moment it was
// called, and fn may write.
func (s *Store) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	if err := destination.CheckPrefix(prefix); err != nil {
		return s.failed("list", prefix, err)
	}
	s.mu.Lock()
	var found []destination.Object
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, s.describe(key, o, s.caps.ListChecksum))
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b destination.Object) int { return strings.Compare(a.Key, b.Key) })
	for _, o := range found {
		if err := ctx.Err(); err != nil {
			return s.failed("list", prefix, err)
		}
		if err := fn(o); err != nil {
			return err
		}
	}
	return nil
}

// Move implements [destination.Store], in one step.
func (s *Store) Move(ctx context.Context, from, to string, prev destination.Version) error {
	if err := check(ctx, to); err != nil {
		return s.failed("move", to, err)
	}
	if err := check(ctx, from); err != nil {
		return s.failed("move", from, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, there := s.objects[from]
	switch {
	case !there:
		return s.failed("move", from, destination.ErrNotFound)
	case o.version != prev:
		return s.failed("move", from, destination.ErrMoved)
	case from == to:
		return s.failed("move", to, destination.ErrExists)
	}
	if other, taken := s.objects[to]; taken && !bytes.Equal(other.body, o.body) {
		return s.failed("move", to, destination.ErrExists)
	}
	s.writes++
	if s.caps.VersionIsUnique {
		o.version = destination.Version(fmt.Sprintf("write-%d", s.writes))
	}
	s.objects[to] = o
	delete(s.objects, from)
	return nil
}

// Capabilities implements [destination.Store].
func (s *Store) Capabilities() destination.Capabilities { return s.caps }

func (s *Store) find(ctx context.Context, key string) (object, error) {
	if err := check(ctx, key); err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	if !ok {
		return object{}, destination.ErrNotFound
	}
	return o, nil
}

// describe reports the one checksum that the store claims to have.
func (s *Store) describe(key string, o object, checksum bool) destination.Object {
	out := destination.Object{Key: key, Size: int64(len(o.body)), Version: o.version}
	switch {
	case checksum && s.caps.StoreChecksum == "xxh3":
		out.Fingerprint = contract.FingerprintOf(o.body)
	case checksum && s.caps.StoreChecksum == "md5":
		out.MD5 = contract.MD5Base64(o.body)
	}
	return out
}

func (s *Store) failed(op, key string, err error) error {
	if err == nil {
		return nil
	}
	return &destination.OpError{Op: op, Store: s.uri, Key: key, Err: err}
}

func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return destination.CheckKey(key)
}
