// Package secrets turns references into values, at the last moment. Layer: L3
// (persistence).
//
// Configs, plans and messages hold references; a value lives in the process
// that connects and nowhere else. Providers of a cloud live below this package.
package secrets

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// CacheTime is how long a value from a secret store is used before it is read
// again.
const CacheTime = 5 * time.Minute

// Provider reads the secrets of one scheme. rest is what follows "scheme://".
// Its errors never hold a value.
type Provider interface {
	Read(ctx context.Context, rest string) (string, error)
}

// Minter is a Provider that makes a value for one use, such as a token for one
// connection. Its values are not kept, and its scheme stands in a config only,
// which has been checked for what such a value needs: an environment variable
// cannot refer to it.
type Minter interface {
	Provider
	// Mints does nothing: having it makes the difference.
	Mints()
}

// ProviderFunc is a function as a Provider.
type ProviderFunc func(ctx context.Context, rest string) (string, error)

// Read calls f.
func (f ProviderFunc) Read(ctx context.Context, rest string) (string, error) { return f(ctx, rest) }

// Resolver resolves references. It is safe for concurrent use.
type Resolver struct {
	clock     clock.Clock
	providers map[string]Provider
	found     []func(value string)

	mu     sync.Mutex
	cached map[string]entry
}

type entry struct {
	value string
	until time.Time
}

// New returns a resolver of env:// and file:// references and those of the
// given providers, by scheme. found are told of every value that is read, so
// that logs can hide it; those of a Minter are too many, and have a form by
// which they are known.
func New(c clock.Clock, more map[string]Provider, found ...func(value string)) *Resolver {
	r := &Resolver{clock: c, found: found, cached: make(map[string]entry), providers: map[string]Provider{
		"env": ProviderFunc(readEnv), "file": ProviderFunc(readFile),
	}}
	for scheme, p := range more {
		r.providers[scheme] = p
	}
	return r
}

// Resolve returns the value of a reference such as env://NAME. The value of an
// environment variable may itself be a reference, one level deep. An empty or
// missing value is refused (SEC-03).
func (r *Resolver) Resolve(ctx context.Context, ref string) (string, error) {
	value, err := r.one(ctx, ref)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(ref, "env://") && r.IsReference(value) {
		return r.one(ctx, value)
	}
	return value, nil
}

// IsReference reports whether s is a reference that this resolver knows and that
// may stand anywhere, and not a database URL.
func (r *Resolver) IsReference(s string) bool {
	scheme, _, found := strings.Cut(s, "://")
	p := r.providers[scheme]
	return found && p != nil && !mints(p)
}

func mints(p Provider) bool {
	_, is := p.(Minter)
	return is
}

// Forget drops cached values, so that the next Resolve reads a rotated secret.
// A caller whose sign-in failed does this once (SEC-08).
func (r *Resolver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.cached)
}

func (r *Resolver) one(ctx context.Context, ref string) (string, error) {
	scheme, rest, found := strings.Cut(ref, "://")
	p := r.providers[scheme]
	if !found || p == nil {
		return "", fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SECRET_SCHEME", "a secret reference begins with one of %s", r.schemes())
	}
	r.mu.Lock()
	e, ok := r.cached[ref]
	r.mu.Unlock()
	if ok && r.clock.Now().Before(e.until) {
		return e.value, nil
	}
	value, err := p.Read(ctx, rest)
	if err != nil {
		return "", err
	}
	if value == "" {
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_EMPTY", "the secret %s is empty", ref)
	}
	if mints(p) {
		return value, nil
	}
	for _, tell := range r.found {
		tell(value)
	}
	if scheme != "env" && scheme != "file" {
		r.mu.Lock()
		r.cached[ref] = entry{value: value, until: r.clock.Now().Add(CacheTime)}
		r.mu.Unlock()
	}
	return value, nil
}

func (r *Resolver) schemes() string {
	var all []string
	for _, s := range []string{"env", "file", "secretsmanager", "ssm"} {
		if r.providers[s] != nil {
			all = append(all, s+"://")
		}
	}
	return strings.Join(all, ", ")
}

func readEnv(_ context.Context, name string) (string, error) {
	v, ok := os.LookupEnv(name)
	if !ok || v == "" {
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_MISSING", "the environment variable %s is not set, or empty", name)
	}
	return v, nil
}

// maxFileBytes bounds a secret file: a whole disk is no secret.
const maxFileBytes = 64 << 10

// readFile reads a file of one line, whose end is not part of the secret. The
// file may be a pipe, so only what is read tells its size.
func readFile(_ context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Wrap(err, fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_MISSING", "read a secret file")
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", fault.Wrap(err, fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_MISSING", "read a secret file")
	}
	line := strings.TrimSuffix(strings.TrimSuffix(string(body), "\n"), "\r")
	switch {
	case len(body) > maxFileBytes:
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_TOO_LARGE", "the secret file %s has more than %d bytes", path, maxFileBytes)
	case strings.ContainsAny(line, "\r\n"):
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_LINES", "the secret file %s has more than one line: which of them is the secret cannot be told", path)
	}
	return line, nil
}
