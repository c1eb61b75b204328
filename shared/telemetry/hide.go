package telemetry

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// known are the secrets that this process has read. They are one set for the
// process, because Redact stands at every place where it prints.
var known struct {
	mu       sync.Mutex
	forms    map[string]bool
	replacer atomic.Pointer[strings.Replacer]
}

// guessable reports values that are not hidden wherever they stand, such as
// "test" and "postgres": logs would become unreadable, and nobody protected.
func guessable(s string) bool {
	return len(s) < 6 || len(s) < 12 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// Hide has Redact hide a secret value in all forms in which messages show
// values: as it is, escaped for URLs, JSON and quotes. Of a database URL or a
// list of pairs it hides the password and not the rest.
func Hide(value string) {
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.forms == nil {
		known.forms = map[string]bool{}
	}
	before := len(known.forms)
	for _, secret := range secretsIn(value) {
		for _, form := range formsOf(secret) {
			if !guessable(form) {
				known.forms[form] = true
			}
		}
	}
	if len(known.forms) == before {
		return
	}
	var longestFirst []string
	for form := range known.forms {
		longestFirst = append(longestFirst, form)
	}
	slices.SortFunc(longestFirst, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var pairs []string
	for _, form := range longestFirst {
		pairs = append(pairs, form, hidden)
	}
	known.replacer.Store(strings.NewReplacer(pairs...))
}

func hideKnown(s string) string {
	if r := known.replacer.Load(); r != nil {
		return r.Replace(s)
	}
	return s
}

// secretsIn returns the parts of a value that are secret: all of it, unless it
// is a database URL or a list of pairs. The address of a webhook is all secret.
func secretsIn(value string) []string {
	var found []string
	scheme, rest, isURL := strings.Cut(value, "://")
	if isURL {
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			if _, password, ok := strings.Cut(rest[:at], ":"); ok {
				found = append(found, password)
			}
		}
	}
	for rest := value; ; {
		at := pair.FindStringIndex(rest)
		if at == nil {
			break
		}
		var before byte
		if at[0] > 0 {
			before = rest[at[0]-1]
		}
		rest = rest[at[1]:]
		open, n := valueOf(rest, before)
		found = append(found, rest[open:open+n])
		rest = rest[open+n:]
	}
	if len(found) == 0 && (!isURL || strings.HasPrefix(scheme, "http")) {
		return []string{value}
	}
	for _, f := range found {
		if plain, err := url.PathUnescape(f); err == nil {
			found = append(found, plain)
		}
	}
	return found
}

func formsOf(secret string) []string {
	quoted, _ := json.Marshal(secret) // a string always marshals
	_, userInfo, _ := strings.Cut(url.UserPassword("", secret).String(), ":")
	return []string{secret, url.QueryEscape(secret), url.PathEscape(secret), userInfo, string(quoted[1 : len(quoted)-1])}
}
