package sqlserver

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

// target is where a session connects to, and as whom. The config says
// everything: no environment variable is looked at.
type target struct {
	transport.Target
	port           uint16
	user, password string
	database       string
	timeout        time.Duration
}

const defaultPort = 1433

// String names the target in messages, without a secret.
func (t target) String() string {
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
		"A URL has the form sqlserver://user:password@host:1433/database, with characters such as @ : / ? # %% in the password percent-encoded", why)
}

var parameterName = regexp.MustCompile(`^[a-zA-Z +_-]{1,40}$`)

// modes are the values of encrypt. With true, the certificate is checked unless
// trustServerCertificate says not to.
var modes = map[string]string{"disable": "disable", "false": "prefer", "optional": "prefer", "true": "verify-full", "mandatory": "verify-full"}

// parseURL reads a connection URL.
func parseURL(raw string) (target, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return target{}, badURL("it is not a URL")
	case u.Scheme != "sqlserver":
		return target{}, badURL("its scheme is not sqlserver")
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
	trusted := false
	for name, values := range query {
		value := values[len(values)-1]
		switch strings.ToLower(name) {
		case "database":
			if t.database != "" && t.database != value {
				return target{}, badURL("it names two databases")
			}
			t.database = value
		case "encrypt":
			mode, known := modes[strings.ToLower(value)]
			if !known {
				return target{}, badURL("its encrypt is not known: it is true, false or disable")
			}
			t.Mode = mode
		case "trustservercertificate":
			trusted = strings.EqualFold(value, "true")
		case "certificate":
			t.RootCert = value
		case "connection timeout", "dial timeout":
			seconds, err := strconv.Atoi(value)
			if err != nil || seconds < 1 {
				return target{}, badURL("its timeout is not a number of seconds")
			}
			t.timeout = time.Duration(seconds) * time.Second
		default:
			if !parameterName.MatchString(name) {
				name = "(not shown)"
			}
			return target{}, badURL("its parameter " + name + " is not known")
		}
	}
	if trusted && t.Mode == "verify-full" {
		t.Mode = "require"
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
	case strings.ContainsAny(t.Host, `,\/`):
		return badURL("its host is no host name: name one server, by host and port, because the tasks of a run have to read the same one")
	}
	return nil
}
