// Package endpoint reads what a config says of a connection to a database, by
// one rule for every engine. Layer: L2 (execution).
package endpoint

import (
	"context"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// ConnectTimeout is how long a server may take to answer, unless a URL says
// something else.
const ConnectTimeout = 15 * time.Second

// Resolve returns the value of a secret reference such as env://NAME. It is
// called again for every connection, so that a rotated secret is found.
type Resolve func(ctx context.Context, ref string) (string, error)

// Secrets returns the URL of a source, or its password if it has none. A
// failure to resolve one may pass, unless it says otherwise.
func Secrets(ctx context.Context, cfg exportconfig.Source, resolve Resolve) (url, password string, err error) {
	secret := func(ref, inline, what string) (string, error) {
		if ref == "" || resolve == nil {
			return inline, nil
		}
		value, err := resolve(ctx, ref)
		if fault.CodeOf(err) != "" {
			return "", err
		}
		return value, fault.Wrap(err, fault.Retryable, "LAPSTRAKE_SOURCE_SECRET", "source %s: %s cannot be resolved", cfg.Name, what)
	}
	if url, err = secret(cfg.URLRef, cfg.Inline.URL, "its URL"); err != nil || url != "" {
		return url, "", err
	}
	password, err = secret(cfg.PasswordRef, cfg.Inline.Password, "its password")
	return "", password, err
}

// BadPort is what is wrong with a port that [Port] refuses.
const BadPort = "its port is not a number from 1 to 65535"

// Port reads the port of a URL or config.
func Port(text string) (port uint16, ok bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0
}

// SignIn connects to what resolve says. After a refused password it resolves
// once more, because the secret may have been rotated (SEC-08), and connects if
// that gives another user or password; the code of such a refusal is refused.
func SignIn[T any](resolve func() (T, error), connect func(T) error, same func(a, b T) bool, refused fault.Code) error {
	t, err := resolve()
	if err != nil {
		return err
	}
	err = connect(t)
	if fault.CodeOf(err) != refused {
		return err
	}
	again, resolveErr := resolve()
	if resolveErr != nil || same(t, again) {
		return err
	}
	return connect(again)
}
