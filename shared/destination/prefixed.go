package destination

import (
	"context"
	"errors"
	"strings"
)

// Prefixed returns the part of store whose keys start with prefix, which is a
// folder: "a/b" and "a/b/" are the same, and "" is the whole store. Keys of the
// result are relative to prefix, in its errors too.
func Prefixed(store Store, prefix string) Store {
	if prefix == "" {
		return store
	}
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/" // never a neighbour whose name only starts the same (DST-03)
	}
	return &prefixed{store: store, prefix: prefix}
}

type prefixed struct {
	store  Store
	prefix string // ends with a slash
}

func (p *prefixed) Create(ctx context.Context, key string, body []byte, m Meta) (Version, error) {
	if err := CheckKey(key); err != nil {
		return "", p.invalid("create", key, err)
	}
	v, err := p.store.Create(ctx, p.prefix+key, body, m)
	return v, p.relative(err)
}

func (p *prefixed) Replace(ctx context.Context, key string, prev Version, body []byte, m Meta) (Version, error) {
	if err := CheckKey(key); err != nil {
		return "", p.invalid("replace", key, err)
	}
	v, err := p.store.Replace(ctx, p.prefix+key, prev, body, m)
	return v, p.relative(err)
}

func (p *prefixed) Get(ctx context.Context, key string, limit int64) ([]byte, Version, error) {
	if err := CheckKey(key); err != nil {
		return nil, "", p.invalid("get", key, err)
	}
	body, v, err := p.store.Get(ctx, p.prefix+key, limit)
	return body, v, p.relative(err)
}

func (p *prefixed) Head(ctx context.Context, key string) (Object, error) {
	if err := CheckKey(key); err != nil {
		return Object{}, p.invalid("head", key, err)
	}
	o, err := p.store.Head(ctx, p.prefix+key)
	o.Key = strings.TrimPrefix(o.Key, p.prefix)
	return o, p.relative(err)
}

func (p *prefixed) List(ctx context.Context, prefix string, fn func(Object) error) error {
	if err := CheckPrefix(prefix); err != nil {
		return p.invalid("list", prefix, err)
	}
	var stopped error
	err := p.store.List(ctx, p.prefix+prefix, func(o Object) error {
		o.Key = strings.TrimPrefix(o.Key, p.prefix)
		stopped = fn(o)
		return stopped
	})
	if stopped != nil {
		return stopped // fn's own error, whatever is in it, is not ours to rewrite
	}
	return p.relative(err)
}

func (p *prefixed) Move(ctx context.Context, from, to string, prev Version) error {
	for _, key := range []string{from, to} {
		if err := CheckKey(key); err != nil {
			return p.invalid("move", key, err)
		}
	}
	return p.relative(p.store.Move(ctx, p.prefix+from, p.prefix+to, prev))
}

func (p *prefixed) Capabilities() Capabilities { return p.store.Capabilities() }

// relative rewrites the key and the store of an error of the inner store.
func (p *prefixed) relative(err error) error {
	var e *OpError
	if !errors.As(err, &e) {
		return err
	}
	return &OpError{Op: e.Op, Store: p.uri(e.Store), Key: strings.TrimPrefix(e.Key, p.prefix), Err: e.Err}
}

func (p *prefixed) uri(store string) string {
	return strings.TrimSuffix(store, "/") + "/" + strings.TrimSuffix(p.prefix, "/")
}

func (p *prefixed) invalid(op, key string, err error) error {
	return &OpError{Op: op, Store: "prefix " + p.prefix, Key: key, Err: err}
}
