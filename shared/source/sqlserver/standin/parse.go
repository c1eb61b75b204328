package standin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// token is a word, a quoted name, a constant or a sign.
type token struct {
	kind tokenKind
	text string
}

type tokenKind uint8

const (
	word tokenKind = iota // in lower case
	name                  // between brackets
	text                  // a constant, 'so' or N'so'
	number
	bytesToken
	sign
	end
)

func refused(format string, args ...any) error {
	return tdsfake.Error{Number: 102, Class: 15, Message: fmt.Sprintf("Incorrect syntax: "+format, args...)}
}

// tokens takes a batch apart.
func tokens(s string) ([]token, error) {
	var all []token
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsSpace(r):
			s = s[size:]
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case r == '[' || r == '\'' || (r == 'N' || r == 'n') && strings.HasPrefix(s[1:], "'"):
			t, rest, err := quotation(s)
			if err != nil {
				return nil, err
			}
			all, s = append(all, t), rest
		case strings.HasPrefix(s, "0x"):
			n := 2 + span(s[2:], func(r rune) bool { return strings.ContainsRune("0123456789abcdefABCDEF", r) })
			all, s = append(all, token{bytesToken, s[2:n]}), s[n:]
		case r >= '0' && r <= '9':
			n := span(s, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
			all, s = append(all, token{number, s[:n]}), s[n:]
		case r == '_' || r == '@' || unicode.IsLetter(r):
			n := span(s, func(r rune) bool { return r == '_' || r == '@' || unicode.IsLetter(r) || unicode.IsDigit(r) })
			all, s = append(all, token{word, strings.ToLower(s[:n])}), s[n:]
		default:
			n := size
			if len(s) > 1 && (s[:2] == "<=" || s[:2] == ">=" || s[:2] == "<>") {
				n = 2
			}
			all, s = append(all, token{sign, s[:n]}), s[n:]
		}
	}
	return append(all, token{kind: end}), nil
}

func span(s string, in func(rune) bool) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); n >= 0 {
		return n
	}
	return len(s)
}

// quotation reads a name or a constant, in which the closing mark is doubled. A
// backslash at the end of a line joins it with the next.
func quotation(s string) (token, string, error) {
	kind, mark := text, byte('\'')
	switch s[0] {
	case '[':
		kind, mark = name, ']'
	case 'N', 'n':
		s = s[1:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == mark && i+1 < len(s) && s[i+1] == mark:
			i++
		case s[i] == mark:
			joined := strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(b.String())
			return token{kind, joined}, s[i+1:], nil
		}
		b.WriteByte(s[i])
	}
	return token{}, "", tdsfake.Error{Number: 105, Class: 15, Message: "Unclosed quotation mark"}
}

// parser reads one statement.
type parser struct {
	all []token
	at  int
}

func (p *parser) peek() token { return p.all[p.at] }

// is reports whether words or signs come next.
func (p *parser) is(texts ...string) bool {
	for i, t := range texts {
		if p.at+i >= len(p.all) {
			return false
		}
		if next := p.all[p.at+i]; next.kind != word && next.kind != sign || next.text != t {
			return false
		}
	}
	return true
}

// take passes words or signs if they come next.
func (p *parser) take(texts ...string) bool {
	if !p.is(texts...) {
		return false
	}
	p.at += len(texts)
	return true
}

func (p *parser) need(texts ...string) error {
	if !p.take(texts...) {
		return refused("%q where %s was expected", p.peek().text, strings.Join(texts, " "))
	}
	return nil
}

// named reads a name.
func (p *parser) named() (string, error) {
	t := p.peek()
	if t.kind != name && t.kind != word {
		return "", refused("%q is no name", t.text)
	}
	p.at++
	return t.text, nil
}

// query is a SELECT.
type query struct {
	top     int // -1 for all
	items   []item
	sources []origin
	where   expression
	order   []ordering
}

type item struct {
	star  bool
	value expression
	name  string
}

// origin is what a query reads from, joined to those before it on a condition.
type origin struct {
	schema, name string
	arguments    []expression // of a function
	inner        *query
	alias        string
	on           expression
}

type ordering struct {
	value      expression
	descending bool
}

func (p *parser) query() (*query, error) {
	if err := p.need("select"); err != nil {
		return nil, err
	}
	q := &query{top: -1}
	if p.take("top", "(") {
		q.top, _ = strconv.Atoi(p.peek().text)
		p.at++
		if err := p.need(")"); err != nil {
			return nil, err
		}
	}
	for more := true; more; more = p.take(",") {
		if p.take("*") {
			q.items = append(q.items, item{star: true})
			continue
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		i := item{value: value}
		if c, ok := value.(columnRef); ok {
			i.name = c.name
		}
		if p.take("as") {
			if i.name, err = p.named(); err != nil {
				return nil, err
			}
		}
		q.items = append(q.items, i)
	}
	if p.take("from") {
		if err := p.from(q); err != nil {
			return nil, err
		}
	}
	var err error
	if p.take("where") {
		if q.where, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if p.take("order", "by") {
		for more := true; more; more = p.take(",") {
			value, err := p.expression()
			if err != nil {
				return nil, err
			}
			q.order = append(q.order, ordering{value: value, descending: p.take("desc")})
		}
	}
	return q, nil
}

func (p *parser) from(q *query) error {
	for {
		var o origin
		var err error
		if p.take("(") {
			if o.inner, err = p.query(); err == nil {
				err = p.need(")")
			}
			if err == nil && len(o.inner.order) > 0 && o.inner.top < 0 {
				err = tdsfake.Error{Number: 1033, Class: 15, Message: "The ORDER BY clause is invalid in derived tables"}
			}
		} else {
			err = p.object(&o)
		}
		if err != nil {
			return err
		}
		if p.take("as") {
			if o.alias, err = p.named(); err != nil {
				return err
			}
		}
		if len(q.sources) > 0 {
			if err := p.need("on"); err != nil {
				return err
			}
			if o.on, err = p.expression(); err != nil {
				return err
			}
		}
		q.sources = append(q.sources, o)
		if !p.take("join") {
			return nil
		}
	}
}

// object reads the name of a table, or the call of a function that is one.
func (p *parser) object(o *origin) error {
	var err error
	if o.name, err = p.named(); err != nil {
		return err
	}
	if p.take(".") {
		o.schema = o.name
		if o.name, err = p.named(); err != nil {
			return err
		}
	}
	o.alias = o.name
	if p.take("(") {
		o.arguments, err = p.arguments()
	}
	return err
}

// arguments reads those of a call up to its closing parenthesis.
func (p *parser) arguments() ([]expression, error) {
	var all []expression
	for !p.take(")") {
		if len(all) > 0 {
			if err := p.need(","); err != nil {
				return nil, err
			}
		}
		if p.take("*") {
			all = append(all, constant{value: int64(1), of: kind{Type: tdsfake.Type{Name: "int"}}})
			continue
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}
