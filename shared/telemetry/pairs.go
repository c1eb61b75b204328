package telemetry

import (
	"regexp"
	"strings"
)

// secretWords end the names of secret values, in any case and with any prefix:
// password, PGPASSWORD, AWS_SECRET_ACCESS_KEY, X-Amz-Signature.
const secretWords = `password|passwd|pwd|passphrase|secret|secret[_-]?key|access[_-]?key|account[_-]?key|api[_-]?key|token|signature|sig`

var (
	// pair is a name with its separator, quoted or not. Before a colon, words
	// that prose uses as well count only when they are quoted.
	pair = regexp.MustCompile(`(?i)(?:[a-z0-9_.-]*(?:` + secretWords + `)(?:\\?["'])?\s*=\s*` +
		`|[a-z0-9_.-]*(?:` + secretWords + `)\\?["']\s*:\s*` +
		`|[a-z0-9_.-]*(?:(?:password|passwd|pwd|passphrase)\s*:\s*|secret\s*:\s+))`)

	secretName = regexp.MustCompile(`(?i)^[a-z0-9_.-]*(?:` + secretWords + `)$`)

	// nextPair is what follows the end of an unquoted value with ";" before it.
	nextPair = regexp.MustCompile(`;\s*[A-Za-z][A-Za-z0-9_ ]*=`)
)

func isSecretName(name string) bool { return secretName.MatchString(name) }

// hidePairs replaces the value of every pair whose name says that it is secret.
func hidePairs(s string) string {
	var b strings.Builder
	for {
		at := pair.FindStringIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		var before byte
		if at[0] > 0 {
			before = s[at[0]-1]
		}
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		open, value := valueOf(s, before)
		if value > 0 {
			b.WriteString(s[:open])
			b.WriteString(hidden)
		}
		s = s[open+value:]
	}
}

// valueOf returns the lengths of the quote that opens the value at the start of
// s, and of the value without its quotes. before is the character before the
// name.
func valueOf(s string, before byte) (open, value int) {
	for _, q := range []string{`\"`, `\'`} {
		if rest, ok := strings.CutPrefix(s, q); ok {
			if i := strings.Index(rest, q); i >= 0 {
				return len(q), i
			}
			return len(q), len(rest)
		}
	}
	if s != "" && strings.IndexByte(`"'{`, s[0]) >= 0 {
		return 1, quoted(s[1:], s[0])
	}
	return 0, unquoted(s, before)
}

// quoted returns the length of a value that ends at the quote: a doubled or
// escaped one is part of it.
func quoted(s string, quote byte) int {
	if quote == '{' {
		quote = '}' // ODBC
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i
		}
	}
	return len(s)
}

func unquoted(s string, before byte) int {
	line := endOf(s, "\r\n")
	switch before {
	case '?', '&': // of a URL
		return endOf(s[:line], "& \t\"'`<>")
	case ';': // of a list with semicolons, whose values hold spaces
		if i := strings.IndexByte(s[:line], ';'); i >= 0 {
			return i
		}
		return line
	}
	end := 0
	for end < line {
		c := s[end]
		if c == '\\' && end+1 < line {
			end += 2
			continue
		}
		if c == ' ' || c == '\t' || closes(s, end) {
			break
		}
		end++
	}
	// The first value of a list with semicolons looks like a single one.
	if next := nextPair.FindStringIndex(s[end:line]); next != nil && !strings.Contains(s[end:end+next[0]], "=") {
		end += next[0]
	}
	return end
}

// closes reports whether s[i] is a quote that ends a quotation around the whole
// text, and not one inside a password.
func closes(s string, i int) bool {
	if strings.IndexByte("\"'`", s[i]) < 0 {
		return false
	}
	return i+1 == len(s) || strings.IndexByte(" \t\r\n),;:.]}", s[i+1]) >= 0
}
