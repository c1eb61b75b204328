package mysql

import (
	"context"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

// target is where a session connects to, and as whom. Option files and
// environment variables of MySQL's clients are not looked at: the config says
// everything.
type target struct {
	transport.Target
	port           uint16
	user, password string
	database       string
	timeout        time.Duration
}

const (
	defaultPort    = 3306
	connectTimeout = 15 * time.Second
)

// String names the target in messages, without a secret.
func (t target) String() string {
	if t.Socket() {
		return t.Host + " " + t.database
	}
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.port))) + "/" + t.database
}

// targetOf resolves the references in cfg.
func targetOf(ctx context.Context, cfg exportconfig.Source, resolve Resolve) (target, error) {
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
	raw, err := secret(cfg.URLRef, cfg.Inline.URL, "its URL")
	if err != nil {
		return target{}, err
	}
	if raw != "" {
		return parseURL(raw)
	}
	password, err := secret(cfg.PasswordRef, cfg.Inline.Password, "its password")
	if err != nil {
		return target{}, err
	}
	t := target{Target: transport.Target{Host: cfg.Host}, port: defaultPort, user: cfg.User, password: password, database: cfg.Database, timeout: connectTimeout}
	if cfg.Port != 0 {
		if cfg.Port < 1 || cfg.Port > 65535 {
			return target{}, badURL("its port is not a number from 1 to 65535")
		}
		t.port = uint16(cfg.Port)
	}
	return t, t.check()
}

// badURL says what is wrong with a URL and never quotes it: whatever part of
// it looks harmless may be a piece of a password with a stray character.
func badURL(why string) error {
	return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "the source's connection cannot be used: %s. "+
		"A URL has the form mysql://user:password@host:3306/database, with characters such as @ : / ? # %% in the password percent-encoded", why)
}

var parameterName = regexp.MustCompile(`^[a-z_-]{1,40}$`)

// modes are the values of MySQL's own ssl-mode.
var modes = map[string]string{
	"DISABLED": "disable", "PREFERRED": "prefer", "REQUIRED": "require", "VERIFY_CA": "verify-ca", "VERIFY_IDENTITY": "verify-full",
}

// parseURL reads a connection URL.
func parseURL(raw string) (target, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return target{}, badURL("it is not a URL")
	case u.Scheme != "mysql" && u.Scheme != "mariadb":
		return target{}, badURL("its scheme is not mysql")
	case u.Opaque != "" || u.Fragment != "" || strings.Contains(raw, "#"):
		return target{}, badURL("it has a # or lacks the // after its scheme")
	case u.User == nil || u.User.Username() == "":
		return target{}, badURL("it names no user")
	}
	t := target{Target: transport.Target{Host: u.Hostname()}, port: defaultPort, user: u.User.Username(), database: strings.TrimPrefix(u.Path, "/"), timeout: connectTimeout}
	t.password, _ = u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, badURL("its parameters cannot be read")
	}
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "ssl-mode":
			mode, known := modes[strings.ToUpper(value)]
			if !known {
				return target{}, badURL("its ssl-mode is not known: it is DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")
			}
			t.Mode = mode
		case "ssl-ca":
			t.RootCert = value
		case "socket":
			t.Host = value
		case "connect_timeout":
			seconds, err := strconv.Atoi(value)
			if err != nil || seconds < 1 {
				return target{}, badURL("connect_timeout is not a number of seconds")
			}
			t.timeout = time.Duration(seconds) * time.Second
		default:
			if !parameterName.MatchString(name) {
				name = "(not shown)"
			}
			return target{}, badURL("its parameter " + name + " is not known")
		}
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return target{}, badURL("its port is not a number from 1 to 65535")
		}
		t.port = uint16(n)
	}
	return t, t.check()
}

// check refuses what may not be left out.
func (t target) check() error {
	switch {
	case t.Host == "":
		return badURL("it names no host")
	case t.user == "":
		return badURL("it names no user")
	case t.database == "":
		return badURL("it names no database")
	case strings.Contains(t.Host, ","):
		return badURL("it names several hosts; name one, because the tasks of a run have to read the same server")
	}
	return nil
}
