package postgres

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
)

// target is where a session connects to, and as whom. Environment variables of
// libpq, password files and service files are not looked at: the config says
// everything.
type target struct {
	host           string // a name, an address, or the folder of a Unix socket
	port           uint16
	user, password string
	database       string
	sslmode        string // as in the URL
	rootCert       string
	timeout        time.Duration
	params         map[string]string // run-time parameters from the URL
}

const defaultPort = 5432

// String names the target in messages, without a secret.
func (t target) String() string {
	return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) + "/" + t.database
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
	t := target{host: cfg.Host, port: defaultPort, user: cfg.User, password: password, database: cfg.Database, timeout: endpoint.ConnectTimeout}
	if cfg.Port != 0 {
		var ok bool
		if t.port, ok = endpoint.Port(strconv.Itoa(cfg.Port)); !ok {
			return target{}, badURL(endpoint.BadPort)
		}
	}
	return t, t.complete()
}

// badURL says what is wrong with a URL and never quotes it: whatever part of
// it looks harmless may be a piece of a password with a stray character.
func badURL(why string) error {
	return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "the source's connection cannot be used: %s. "+
		"A URL has the form postgres://user:password@host:5432/database, with characters such as @ : / ? # %% in the password percent-encoded", why)
}

var parameterName = regexp.MustCompile(`^[a-z_]{1,40}$`)

// parseURL reads a connection URL. The host, port, user, password and database
// of its query part win over those before it, as in libpq (SEC-07).
func parseURL(raw string) (target, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return target{}, badURL("it is not a URL")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return target{}, badURL("its scheme is not postgres")
	case u.Opaque != "" || u.Fragment != "" || strings.Contains(raw, "#"):
		return target{}, badURL("it has a # or lacks the // after its scheme")
	}
	t := target{host: u.Hostname(), port: defaultPort, database: strings.TrimPrefix(u.Path, "/"), timeout: endpoint.ConnectTimeout, params: map[string]string{}}
	if u.User != nil {
		t.user = u.User.Username()
		t.password, _ = u.User.Password()
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, badURL("its parameters cannot be read")
	}
	if t.user == "" && query.Get("user") == "" {
		return target{}, badURL("it names no user")
	}
	port := u.Port()
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "host":
			t.host = value
		case "port":
			port = value
		case "user":
			t.user = value
		case "password":
			t.password = value
		case "dbname":
			t.database = value
		case "sslmode":
			t.sslmode = value
		case "sslrootcert":
			t.rootCert = value
		case "connect_timeout":
			seconds, err := strconv.Atoi(value)
			if err != nil || seconds < 1 {
				return target{}, badURL("connect_timeout is not a number of seconds")
			}
			t.timeout = time.Duration(seconds) * time.Second
		case "search_path", "options", "application_name":
			t.params[name] = value
		default:
			if !parameterName.MatchString(name) {
				name = "(not shown)"
			}
			return target{}, badURL("its parameter " + name + " is not known")
		}
	}
	if port != "" {
		var ok bool
		if t.port, ok = endpoint.Port(port); !ok {
			return target{}, badURL(endpoint.BadPort)
		}
	}
	return t, t.complete()
}

// complete fills in what may be left out and refuses what may not.
func (t *target) complete() error {
	switch {
	case t.host == "":
		return badURL("it names no host")
	case t.user == "":
		return badURL("it names no user")
	case strings.Contains(t.host, ","):
		return badURL("it names several hosts; name one, because the tasks of a run have to read the same server")
	}
	if t.database == "" {
		t.database = t.user
	}
	return nil
}
