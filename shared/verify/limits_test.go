package verify

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// counted is a store that counts its requests, a list as one for each page.
type counted struct {
	destination.Store
	requests atomic.Int64
}

// pageKeys is how many keys a page of S3 has.
const pageKeys = 1000

func (c *counted) Get(ctx context.Context, key string, limit int64) ([]byte, destination.Version, error) {
	c.requests.Add(1)
	return c.Store.Get(ctx, key, limit)
}

func (c *counted) Head(ctx context.Context, key string) (destination.Object, error) {
	c.requests.Add(1)
	return c.Store.Head(ctx, key)
}

func (c *counted) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	keys := 0
	err := c.Store.List(ctx, prefix, func(o destination.Object) error { keys++; return fn(o) })
	c.requests.Add(int64(1 + keys/pageKeys))
	return err
}

// The largest run there is, as the validator and the finalizer look at it: its
// manifest is one that readers take, a part costs one request, whose answer has
// what the store knows of its content, and the memory is that of a function with
// 2048 MB.
func TestAPrefixOfAHundredThousandParts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const parts = 100_000
	p := publish(t, memory.LikeS3, parts)
	body := p.encode()
	if len(body) > contract.MaxManifestBytes {
		t.Fatalf("the manifest has %d bytes", len(body))
	}
	store := &counted{Store: p}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := Verify(t.Context(), store, Options{Depth: Sample})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if !r.Verification.Passed || r.Verification.PartsVerified != parts || r.Untracked != 0 {
		t.Errorf("%d parts verified, %d untracked, passed %v", r.Verification.PartsVerified, r.Untracked, r.Verification.Passed)
	}
	if most := parts + 2*parts/pageKeys + 100; store.requests.Load() > int64(most) {
		t.Errorf("%d requests, want at most %d", store.requests.Load(), most)
	}
	// Everything that was ever allocated, so more than was held at a time.
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
		t.Errorf("%d MiB of memory were asked for", used>>20)
	}
}
