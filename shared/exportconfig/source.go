package exportconfig

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	sourceNameRule = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	envNameRule    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)
	schemeRule     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)
)

// referenceSchemes are where a secret may be kept.
var referenceSchemes = []string{"env", "file", "secretsmanager", "ssm"}

// engine is what a connection to a kind of source looks like.
type engine struct {
	schemes []string // of its URLs
	port    int
}

// Types of sources that are spoken to, and whose queries are read, by rules of
// their own.
const (
	mysql = "mysql"
	mssql = "mssql"
)

var engines = map[string]engine{
	mysql: {schemes: []string{"mysql", "mariadb"}, port: 3306},
	mssql: {schemes: []string{"sqlserver"}, port: 1433},
	mongo: {schemes: []string{"mongodb", "mongodb+srv"}, port: 27017},
}

// engineOf returns that of source.type; one that is not known is refused where
// the type is read.
func engineOf(sourceType string) engine {
	if e, ok := engines[sourceType]; ok {
		return e
	}
	return engine{schemes: []string{"postgres", "postgresql"}, port: 5432}
}

// source reads the source block, all but the timeouts, which are an export's.
func (r *reader) source(root *mapping) Source {
	m := root.block("source")
	if m == nil {
		return Source{}
	}
	s := Source{Type: m.text("type"), TLS: r.tls(m.block("tls"))}
	r.sourceType = s.Type
	s.Mongo = r.mongo(m)
	urls := m.given("url", "url_env", "url_file")
	structured := m.given("host", "port", "user", "database", "password", "password_env")
	switch {
	case len(urls) > 1:
		r.fail(m.scope, m.lineOf(urls[1]), "source has %s: give exactly one", joinWords(urls, "", "and"))
	case len(urls) == 1 && len(structured) > 0:
		r.fail(m.scope, m.lineOf(structured[0]), "source has %s and %s: a URL holds them all", urls[0], joinWords(structured, "", "and"))
	case len(urls) == 1:
		r.url(m, urls[0], &s)
	default:
		r.structured(m, &s)
	}
	return s
}

func (r *reader) url(m *mapping, name string, s *Source) {
	switch name {
	case "url_env":
		s.URLRef = r.envReference(m, name)
	case "url_file":
		if v := m.get(name); v != nil {
			if p, ok := r.localPath(m, name, v.text); ok {
				s.URLRef = "file://" + p
			}
		}
	default:
		s.URLRef, s.Inline.URL = r.secret(m, name, engineOf(s.Type).schemes...)
	}
}

// structured reads host, user and database, which must be there, and the rest.
func (r *reader) structured(m *mapping, s *Source) {
	if !m.has("host") && !m.has("user") && !m.has("database") {
		r.fail(m.scope, m.line, "source needs one of url, url_env and url_file, or host, user and database")
		return
	}
	for _, name := range []string{"host", "user", "database"} {
		if !m.has(name) {
			r.fail(m.scope, m.line, "source.%s is missing", name)
		}
	}
	s.Host, s.User, s.Database = m.text("host"), m.text("user"), m.text("database")
	if s.Port = int(m.number("port")); s.Port == 0 {
		s.Port = engineOf(s.Type).port
	}
	if strings.ContainsAny(s.Host, ",@?= ") {
		r.fail(m.scope, m.lineOf("host"), "source.host must be one host name or address")
	} else if s.Host != "" && !m.has("tls") && !loopback(s.Host) {
		r.fail(m.scope, m.lineOf("host"), "source.tls is missing: without it only a loopback host is spoken to")
	}
	switch {
	case m.has("password") && m.has("password_env"):
		r.fail(m.scope, m.lineOf("password_env"), "source has password and password_env: give one")
	case m.has("password_env"):
		s.PasswordRef = r.envReference(m, "password_env")
	case m.has("password"):
		s.PasswordRef, s.Inline.Password = r.secret(m, "password")
	}
}

// loopback reports whether a host is this machine, or a socket on its disk.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") || err == nil && addr.Unmap().IsLoopback()
}

// tls reads source.tls. A block without a mode means the strictest one.
func (r *reader) tls(m *mapping) TLS {
	if m == nil {
		return TLS{}
	}
	t := TLS{
		Mode:                   m.or("mode", "verify-full"),
		AcceptInvalidCerts:     m.yes("accept_invalid_certs"),
		AcceptInvalidHostnames: m.yes("accept_invalid_hostnames"),
	}
	if v := m.get("ca_file"); v != nil {
		t.CAFile, _ = r.localPath(m, "ca_file", v.text)
	}
	return t
}

func (r *reader) sourceName(m *mapping) string {
	v := m.get("source_name")
	if v == nil {
		return "default"
	}
	if !sourceNameRule.MatchString(v.text) {
		r.fail(m.scope, v.line, "lapstrake.source_name must be 1 to 32 characters of a-z, 0-9 and -, not %s", quote(v.raw))
	}
	return v.text
}

// secret reads a value that is a secret or a reference to one. With schemes it
// must be a URL of one of them. The value is never shown.
func (r *reader) secret(m *mapping, name string, schemes ...string) (ref, inline string) {
	v := m.get(name)
	if v == nil {
		return "", ""
	}
	scheme, rest, _ := strings.Cut(v.text, "://")
	if slices.Contains(referenceSchemes, scheme) {
		if rest == "" || scheme == "env" && !envNameRule.MatchString(rest) || scheme == "file" && !strings.HasPrefix(rest, "/") {
			r.fail(m.scope, v.line, "%s is a reference with nothing to refer to: write env://NAME, file:///path, secretsmanager://name or ssm://name", m.shown+name)
		}
		return v.text, ""
	}
	switch {
	case len(schemes) == 0 || slices.Contains(schemes, scheme):
		return "", v.text
	case slices.Contains([]string{"postgres", "postgresql", "mysql", "mariadb", "sqlserver", "mongodb", "mongodb+srv", "oracle"}, scheme):
		r.fail(m.scope, v.line, "%s has the scheme %s://, which is not that of source.type", m.shown+name, scheme)
	default:
		r.fail(m.scope, v.line, "%s must start with %s, or be a reference (env://, file://, secretsmanager://, ssm://)", m.shown+name, strings.Join(schemes, ":// or ")+"://")
	}
	return "", ""
}

// envReference reads the name of an environment variable. What is no name may
// be a secret in the wrong place, and is not shown.
func (r *reader) envReference(m *mapping, name string) string {
	v := m.get(name)
	if v == nil {
		return ""
	}
	if !envNameRule.MatchString(v.text) {
		also := ""
		if schemeRule.MatchString(v.text) {
			also = "; an address or a reference stands under " + strings.TrimSuffix(name, "_env")
		}
		r.fail(m.scope, v.line, "%s must be the name of an environment variable%s", m.shown+name, also)
		return ""
	}
	return "env://" + v.text
}

// localPath makes the path at a key absolute. ok is false, with a problem, when
// there is no folder to start from.
func (r *reader) localPath(m *mapping, name, p string) (string, bool) {
	if path.IsAbs(p) {
		return path.Clean(p), true
	}
	if r.vars.env.Dir == "" {
		r.fail(m.scope, m.lineOf(name), "%s is a relative path, and this config has no folder: write an absolute path", m.shown+name)
		return "", false
	}
	return path.Join(r.vars.env.Dir, p), true
}
