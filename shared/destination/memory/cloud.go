package memory

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Cloud is a set of buckets, so that several handlers reach the same objects
// through locations, memory://bucket/prefix. It is a [destination.Opener].
type Cloud struct {
	// Like is what its buckets guarantee.
	Like destination.Capabilities

	mu      sync.Mutex
	buckets map[string]*Store
}

// Make returns the bucket of that name, which is made if it does not exist.
func (c *Cloud) Make(bucket string) *Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buckets == nil {
		c.buckets = make(map[string]*Store)
	}
	if c.buckets[bucket] == nil {
		c.buckets[bucket] = New("memory://"+bucket, c.Like)
	}
	return c.buckets[bucket]
}

// Open returns the store of a location. A bucket that was not made is
// ErrNoBucket.
func (c *Cloud) Open(_ context.Context, at wire.Location) (destination.Store, error) {
	u, err := url.Parse(at.URI)
	if err != nil || u.Scheme != "memory" || u.Host == "" {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_URI", "destination %q is not memory://bucket/prefix", at.URI)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	bucket := c.buckets[u.Host]
	if bucket == nil {
		return nil, &destination.OpError{Op: "open", Store: at.URI, Err: fmt.Errorf("bucket %q: %w", u.Host, destination.ErrNoBucket)}
	}
	return destination.Prefixed(bucket, strings.TrimPrefix(u.Path, "/")), nil
}
