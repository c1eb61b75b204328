package telemetry

import (
	"regexp"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
)

const (
	hidden     = "***"
	hiddenUser = "REDACTED"
)

// Told is a message as it is stored, answered and sent on: what looks like a
// secret is hidden, and then it is cut as [fault.Shortened] does.
func Told(message string) string { return fault.Shortened(Redact(message)) }

// Redact hides what is, or looks like, a secret in s: the user information of
// URLs and DSNs, the values of passwords and the like in key=value, JSON and
// query form, authorization headers, webhook addresses, and every value given
// to Hide. Where a text can be read in two ways it hides too much.
func Redact(s string) string {
	s = hideKnown(s)
	if strings.Contains(s, "://") {
		s = hideUserInfo(s)
		s = webhook.ReplaceAllString(s, "${1}"+hidden)
	}
	if strings.Contains(s, "@") {
		s = dsn.ReplaceAllStringFunc(s, hideDSN)
	}
	if strings.ContainsAny(s, "=:") {
		s = authorization.ReplaceAllString(s, "${1}"+hidden)
		s = hidePairs(s)
	}
	return s
}

var (
	// dsn is the MySQL driver's form, user:password@tcp(host:port)/db.
	dsn = regexp.MustCompile("[^\\s\"'`]+@(tcp6?|unix|udp)\\(")

	authorization = regexp.MustCompile(`(?i)(authorization\\?"?\s*[:=]\s*\\?["\[]*(?:bearer|basic|aws4-hmac-sha256)\s+)[^\r\n"]+`)

	// webhook addresses are secrets by themselves.
	webhook = regexp.MustCompile(`(https://hooks\.slack(?:-gov)?\.com/[a-z]+/)[^\s"'<>]+`)

	scheme = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)

	// hostList is an authority without user information.
	hostList = regexp.MustCompile(`^(?:(?:\[[0-9A-Fa-f:.%a-z]*\]?|[A-Za-z0-9_.*{}$%-]*)(?::[0-9]+)?(?:,|$))*$`)
)

// Schemes whose rest is a name, not an address: it holds no user information,
// and may hold anything else.
var (
	references = map[string]bool{"env": true, "file": true, "secretsmanager": true, "ssm": true, "gcpsm": true}
	keyed      = map[string]bool{"s3": true, "gs": true, "gcs": true, "az": true, "abfss": true, "dynamodb": true, "memory": true}
)

func hideDSN(s string) string {
	if strings.Contains(s, "://") {
		return s // a URL, which has been dealt with
	}
	return hiddenUser + s[strings.LastIndexByte(s, '@'):]
}

// hideUserInfo replaces what stands between "://" and "@". Passwords hold "/",
// "?", "#", "@", quotes and spaces unescaped in the wild, so the "@" that
// counts is the last one that may belong to the URL.
func hideUserInfo(s string) string {
	var b strings.Builder
	for {
		at := scheme.FindStringIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		name := strings.ToLower(s[at[0] : at[1]-len("://")])
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		if n := userInfo(name, s); n > 0 {
			b.WriteString(hiddenUser)
			s = s[n:]
		}
	}
}

// userInfo returns how many bytes at the start of s, which follows "scheme://",
// are to be hidden.
func userInfo(scheme, s string) int {
	if references[scheme] {
		return 0
	}
	end := endOf(s, " \t\r\n\"'`<>")
	if keyed[scheme] {
		return max(strings.LastIndexByte(authority(s[:end]), '@'), 0)
	}
	at := strings.LastIndexByte(s[:endOf(s, " \t\r\n")], '@') // whether or not there are quotes before it
	if hostList.MatchString(authority(s[at+1 : max(end, at+1)])) {
		return max(at, 0)
	}
	// What should be a host is the start of a password that a space cut in two.
	if at := strings.LastIndexByte(s[:endOf(s, "\r\n")], '@'); at >= 0 {
		return at
	}
	return end // or the end of the text cut it off
}

// authority returns the start of s in which hosts stand.
func authority(s string) string { return s[:endOf(s, "/?#\\")] }

// endOf returns the index of the first of chars in s, or its length.
func endOf(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}
