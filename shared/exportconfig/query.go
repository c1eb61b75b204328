package exportconfig

import (
	"errors"
	"strings"
)

// statement returns the one statement of a query without the semicolons that
// end it, so that it can stand between parentheses. A query that holds a
// second statement, or that would leave the parentheses, is an error: nothing
// is guessed about it, and what it reads is for the server to judge (PLN-29).
//
// The result ends with a line break if it ends inside a line comment. engine is
// source.type, by whose rules the text is read.
func statement(query, engine string) (string, error) {
	s := scanner{text: query, engine: engine}
	depth, end := 0, -1 // end is the offset of the first semicolon at the top
	content := false
	for !s.done() {
		at := s.at
		kind, err := s.next()
		if err != nil {
			return "", err
		}
		switch kind {
		case lineComment, blank:
			continue
		case semicolon:
			if depth == 0 {
				if end < 0 {
					end = at
				}
				continue
			}
			return "", errors.New("has a semicolon between parentheses")
		case opening:
			depth++
		case closing:
			if depth--; depth < 0 {
				return "", errors.New("closes a parenthesis that it does not open")
			}
		}
		if end >= 0 {
			return "", errors.New("has more than one statement: only one SELECT is read")
		}
		content = true
	}
	switch {
	case depth > 0:
		return "", errors.New("opens a parenthesis that it does not close")
	case !content:
		return "", errors.New("holds no statement")
	}
	if end >= 0 {
		query = query[:end]
		if endsInLineComment(query, engine) {
			return "", errors.New("has two hyphens before its last semicolon, which are no comment there")
		}
	}
	query = strings.Trim(query, blanks)
	if endsInLineComment(query, engine) {
		query += "\n"
	}
	return query, nil
}

func endsInLineComment(query, engine string) bool {
	s := scanner{text: query, engine: engine}
	last := other
	for !s.done() {
		kind, err := s.next()
		if err != nil {
			return false
		}
		last = kind
	}
	return last == lineComment && !strings.HasSuffix(query, "\n")
}

type token int

const (
	other token = iota
	blank       // white space or a block comment
	lineComment
	semicolon
	opening
	closing
)

// blanks are what the servers take for white space; other space is part of a name.
const blanks = " \t\r\n\f\v"

// scanner finds the tokens of a text that may hold a semicolon or a parenthesis
// which is none: comments and quotations. PostgreSQL has four kinds of the
// latter, and comments that nest; MySQL has names between backticks, escapes in
// every text, and comments from a #; SQL Server has names between brackets.
type scanner struct {
	text   string
	at     int
	engine string
}

func (s *scanner) mysql() bool { return s.engine == mysql }
func (s *scanner) mssql() bool { return s.engine == mssql }

func (s *scanner) done() bool { return s.at >= len(s.text) }

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) next() (token, error) {
	rest := s.rest()
	switch c := rest[0]; {
	case strings.IndexByte(blanks, c) >= 0:
		s.at++
		return blank, nil
	case s.lineComment(rest):
		n := strings.IndexAny(rest, "\r\n")
		if n < 0 {
			n = len(rest)
		}
		s.at += n
		return lineComment, nil
	case strings.HasPrefix(rest, "/*"):
		return blank, s.blockComment()
	case c == '\'':
		return other, s.quoted('\'', s.mysql(), "text")
	case c == '[' && s.mssql():
		return other, s.quoted(']', false, "name")
	case c == '"' && s.mysql():
		return other, s.quoted('"', true, "text")
	case c == '"', c == '`' && s.mysql():
		return other, s.quoted(c, false, "name")
	case c == '$' && !s.mysql() && !s.mssql():
		return other, s.dollar()
	case wordByte(c):
		return other, s.word()
	}
	s.at++
	switch rest[0] {
	case ';':
		return semicolon, nil
	case '(':
		return opening, nil
	case ')':
		return closing, nil
	}
	return other, nil
}

// lineComment reports whether one starts here. In MySQL, two hyphens start one
// only before white space.
func (s *scanner) lineComment(rest string) bool {
	if !s.mysql() {
		return strings.HasPrefix(rest, "--")
	}
	return rest[0] == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' ')
}

// word passes a name, a keyword or a number. An E right before a quotation
// makes its backslashes escapes.
func (s *scanner) word() error {
	start := s.at
	for !s.done() && (wordByte(s.text[s.at]) || s.text[s.at] == '$') {
		s.at++
	}
	if word := s.text[start:s.at]; !s.mysql() && !s.mssql() && (word == "E" || word == "e") && strings.HasPrefix(s.rest(), "'") {
		return s.quoted('\'', true, "text")
	}
	return nil
}

// wordByte reports whether c may be part of a name; every byte of a character
// beyond ASCII is.
func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quoted passes a quotation, whose mark inside is doubled or, with escapes,
// follows a backslash.
func (s *scanner) quoted(mark byte, escapes bool, what string) error {
	for s.at++; !s.done(); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && escapes:
			s.at++
		case c == mark:
			s.at++
			if s.done() || s.text[s.at] != mark {
				return nil
			}
		}
	}
	s.at = len(s.text)
	return errors.New("has a quoted " + what + " that does not end")
}

// dollar passes $tag$…$tag$, or a lone dollar sign.
func (s *scanner) dollar() error {
	rest := s.rest()
	n := 1
	for n < len(rest) && wordByte(rest[n]) {
		n++
	}
	if n >= len(rest) || rest[n] != '$' || n > 1 && rest[1] >= '0' && rest[1] <= '9' {
		s.at++
		return nil
	}
	tag := rest[:n+1]
	end := strings.Index(rest[len(tag):], tag)
	if end < 0 {
		s.at = len(s.text)
		return errors.New("has a dollar quotation that does not end")
	}
	s.at += len(tag) + end + len(tag)
	return nil
}

// blockComment passes a comment, in which others may nest. A comment that MySQL
// runs as a part of the statement, by its version, is an error.
func (s *scanner) blockComment() error {
	if s.mysql() {
		if strings.HasPrefix(s.rest(), "/*!") || strings.HasPrefix(s.rest(), "/*M!") {
			return errors.New("has a comment that some servers run: write it out")
		}
		n := strings.Index(s.rest()[2:], "*/")
		if n < 0 {
			s.at = len(s.text)
			return errors.New("has a comment that does not end")
		}
		s.at += n + 4
		return nil
	}
	depth := 0
	for !s.done() {
		switch {
		case strings.HasPrefix(s.rest(), "/*"):
			depth++
			s.at += 2
		case strings.HasPrefix(s.rest(), "*/"):
			depth--
			s.at += 2
			if depth == 0 {
				return nil
			}
		default:
			s.at++
		}
	}
	return errors.New("has a comment that does not end")
}
