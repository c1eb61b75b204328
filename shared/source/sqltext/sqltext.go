// Package sqltext quotes what is put into SQL text: names and constants, each
// by its engine's own rule. Layer: L2 (execution).
//
// Whatever can be bound is bound. Quoting is for names, and for the statements
// that take no parameters, such as COPY.
package sqltext

import "strings"

// Dialect is how one engine quotes.
type Dialect struct {
	open, close rune
	literal     func(string) string
}

// Postgres quotes names with "…" and constants with '…', or E'…' where the
// text has a backslash, so that a constant means the same under every setting
// of standard_conforming_strings.
var Postgres = Dialect{open: '"', close: '"', literal: postgresLiteral}

// MySQL quotes names with `…` and constants with '…', in which a backslash is an
// escape: the session's sql_mode has to be without NO_BACKSLASH_ESCAPES.
var MySQL = Dialect{open: '`', close: '`', literal: mysqlLiteral}

// SQLServer quotes names with […] and constants with N'…', which are Unicode
// whatever the database's collation is.
var SQLServer = Dialect{open: '[', close: ']', literal: sqlServerLiteral}

// Name quotes one identifier, whatever it contains. No engine can have a NUL
// byte in a name or in text: the session that sends a statement refuses it
// there (see [Sendable]).
func (d Dialect) Name(name string) string {
	var b strings.Builder
	b.Grow(len(name) + 2)
	b.WriteRune(d.open)
	for _, r := range []byte(name) {
		b.WriteByte(r)
		if rune(r) == d.close {
			b.WriteByte(r)
		}
	}
	b.WriteRune(d.close)
	return b.String()
}

// Table quotes a table's name, with its schema unless that is "".
func (d Dialect) Table(schema, name string) string {
	if schema == "" {
		return d.Name(name)
	}
	return d.Name(schema) + "." + d.Name(name)
}

// Names quotes a list of names and joins them by ", ".
func (d Dialect) Names(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = d.Name(n)
	}
	return strings.Join(quoted, ", ")
}

// Literal quotes text as a constant.
func (d Dialect) Literal(text string) string { return d.literal(text) }

// Sendable reports whether a statement may be sent: a NUL byte would end it
// early on the wire, and the rest would be lost without a word.
func Sendable(statement string) bool { return strings.IndexByte(statement, 0) < 0 }

func postgresLiteral(text string) string {
	quoted := strings.ReplaceAll(text, "'", "''")
	if strings.IndexByte(quoted, '\\') < 0 {
		return "'" + quoted + "'"
	}
	return "E'" + strings.ReplaceAll(quoted, `\`, `\\`) + "'"
}

// continued takes a constant apart where a line would end behind a backslash:
// SQL Server joins such lines, and the text would lose both. What is put together
// again is of a type without a limit: another would be cut off at its own.
var continued = strings.NewReplacer("\\\n", "\\' + N'\n", "\\\r", "\\' + N'\r", "'", "''")

func sqlServerLiteral(text string) string {
	quoted := "N'" + continued.Replace(text) + "'"
	if strings.Contains(quoted, "\\' + N'") {
		return "(convert(nvarchar(max), N'') + " + quoted + ")"
	}
	return quoted
}

// mysqlEscapes are the characters that a constant cannot have as they are, and
// NUL, which a statement cannot have.
var mysqlEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`)

func mysqlLiteral(text string) string { return "'" + mysqlEscapes.Replace(text) + "'" }
