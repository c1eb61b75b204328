package exportconfig

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// TokenScheme begins the reference of a password that is made for one
// connection: rds-iam://user@host:port. Only source_auth: rds_iam makes one.
const TokenScheme = "rds-iam"

// TokenAuth reports whether the password is a token of the cloud's identity
// service. A driver may hand it over as it is: such a source is read with
// verify-full only, so that nobody but the named host can have it.
func (s Source) TokenAuth() bool { return strings.HasPrefix(s.PasswordRef, TokenScheme+"://") }

// sourceAuth reads lapstrake.source_auth, by which a token takes the place of
// the password.
func (r *reader) sourceAuth(own, source *mapping, s *Source) {
	if own.text("source_auth") != "rds_iam" || source == nil {
		return
	}
	line := own.lineOf("source_auth")
	given := source.given("url", "url_env", "url_file", "password", "password_env")
	switch {
	case s.Type != "postgres" && s.Type != "mysql":
		r.fail(own.scope, line, "lapstrake.source_auth: rds_iam is for source.type: postgres and mysql")
	case len(given) > 0:
		r.fail(own.scope, line, "lapstrake.source_auth: rds_iam takes the place of source.%s: give host, user and database, and no password", given[0])
	case s.TLS.Mode != "verify-full" || s.TLS.AcceptInvalidCerts || s.TLS.AcceptInvalidHostnames:
		r.fail(own.scope, line, "lapstrake.source_auth: rds_iam needs source.tls with mode: verify-full and no exception, as a token is a password while it lasts")
	default:
		s.PasswordRef = (&url.URL{Scheme: TokenScheme, User: url.User(s.User), Host: net.JoinHostPort(s.Host, strconv.Itoa(s.Port))}).String()
	}
}
