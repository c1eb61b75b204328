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
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
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

const defaultPort = 3306

// String names the target in messages, without a secret.
func (t target) String() string {
	if t.Socket() {
		return t.Host + " " + t.database
	}
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.port))) + "/" + t.database
}

// targetOf resolves the references in cfg.
func targetOf(ctx context.Context, cfg exportconfig.Source, resolve endpoint.Resolve) (target, error) {
	raw, password, err := endpoint.Secrets(ctx, cfg, resolve)
	if err != nil {
		return target{}, err
	}
	if raw != "" {
		return parseURL(raw)
	}
	t := target{Target: transport.Target{Host: cfg.Host}, port: defaultPort, user: cfg.User, password: password, database: cfg.Database, timeout: endpoint.ConnectTimeout}
	if cfg.Port != 0 {
		var ok bool
		if t.port, ok = endpoint.Port(strconv.Itoa(cfg.Port)); !ok {
			return target{}, badURL(endpoint.BadPort)
		}
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
	t := target{Target: transport.Target{Host: u.Hostname()}, port: defaultPort, user: u.User.Username(), database: strings.TrimPrefix(u.Path, "/"), timeout: endpoint.ConnectTimeout}
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
		var ok bool
		if t.port, ok = endpoint.Port(port); !ok {
			return target{}, badURL(endpoint.BadPort)
		}
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
