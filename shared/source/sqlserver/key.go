package sqlserver

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source/predicate"
)

// family is what a bound of a type looks like in a statement.
type family uint8

const (
	noFamily family = iota // no bound can be written of it
	wholeFamily
	decimalFamily
	floatFamily
	timeFamily // dates and times
	guidFamily
	unicodeFamily
	codePageFamily // text that is not Unicode
	bytesFamily
)

// families are the types whose values have a text that means the same value
// again. The server compares no text, ntext, image, xml or bit by size.
var families = map[string]family{
	"tinyint": wholeFamily, "smallint": wholeFamily, "int": wholeFamily, "bigint": wholeFamily,
	"decimal": decimalFamily, "numeric": decimalFamily, "money": decimalFamily, "smallmoney": decimalFamily,
	"real": floatFamily, "float": floatFamily,
	"date": timeFamily, "time": timeFamily, "smalldatetime": timeFamily, "datetime": timeFamily, "datetime2": timeFamily, "datetimeoffset": timeFamily,
	"uniqueidentifier": guidFamily, "nchar": unicodeFamily, "nvarchar": unicodeFamily, "char": codePageFamily, "varchar": codePageFamily,
	"binary": bytesFamily, "varbinary": bytesFamily, "timestamp": bytesFamily,
}

func (c column) family() family { return families[c.server.Name] }

// keyable reports whether bounds of the column can be written.
func (c column) keyable() bool { return c.family() != noFamily }

// expression is the column's value in a statement, or that of the column that
// it falls back on.
func (c column) expression() string {
	if c.fallback == "" {
		return input(c.Name)
	}
	return "coalesce(" + input(c.Name) + ", " + input(c.fallback) + ")"
}

// style is how the server writes values of the type as text, and reads it: for
// dates and times one without the order of days and months that a language has,
// for numbers one with every digit.
func (c column) style() string {
	switch c.server.Name {
	case "date":
		return ", 23"
	case "time":
		return ", 121"
	case "smalldatetime", "datetime", "datetime2", "datetimeoffset":
		return ", 126"
	case "real", "float":
		return ", 3"
	case "money", "smallmoney":
		return ", 2"
	case "binary", "varbinary", "timestamp":
		return ", 2"
	}
	return ""
}

// keyText is the value as text, sent as its bytes, that constant reads as the
// same value.
func (c column) keyText(expression string) string {
	return sentUnicode("convert(nvarchar(max), " + expression + c.style() + ")")
}

var (
	wholeNumber   = regexp.MustCompile(`^-?[0-9]{1,20}$`)
	decimalNumber = regexp.MustCompile(`^-?[0-9]{0,38}(\.[0-9]{0,38})?$`)
	floatNumber   = regexp.MustCompile(`^-?[0-9.]{1,400}([eE][-+]?[0-9]{1,3})?$`)
	hexNumber     = regexp.MustCompile(`^([0-9A-Fa-f]{2})*$`)
)

// constant is a value of the column's type. What is put unquoted into a
// statement is looked at first.
//
// A bound of text that is not Unicode has the type and the collation of its
// column: to compare with a Unicode one, the server would convert the column,
// and the old collations sort the two in different orders.
func (c column) constant(text string) (string, error) {
	ok := true
	switch c.family() {
	case wholeFamily:
		ok = wholeNumber.MatchString(text)
	case decimalFamily:
		ok = decimalNumber.MatchString(text) && strings.ContainsAny(text, "0123456789")
		text = convert(c.declared(), text, "")
	case floatFamily:
		ok = floatNumber.MatchString(text)
		text = convert(c.declared(), text, "")
	case timeFamily:
		text = convert(c.declared(), text, c.style())
	case guidFamily:
		text = convert("uniqueidentifier", text, "")
	case unicodeFamily:
		text = literal(text)
	case codePageFamily:
		size := "max"
		if c.server.Length > 0 {
			size = strconv.Itoa(c.server.Length)
		}
		text = "convert(varchar(" + size + "), " + literal(text) + " collate " + c.collation + ")"
	case bytesFamily:
		ok = hexNumber.MatchString(text)
		text = "0x" + text
	default:
		ok = false
	}
	if !ok {
		return "", fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound of column %s is no %s", quoted(c.Name), c.Native)
	}
	return text, nil
}

func convert(to, text, style string) string {
	return "convert(" + to + ", " + literal(text) + style + ")"
}

// keyOf finds the planned key among the columns of now. The types that bounds
// are written as come from the catalog, never from the plan.
func keyOf(r relation, list []keyspace.Column, now []column) ([]column, error) {
	key := make([]column, len(list))
	for i, p := range list {
		var err error
		if key[i], err = planned(p, r, now); err != nil {
			return nil, err
		}
		switch c := key[i].key(); {
		case c.Native != p.Native:
			return nil, drift(r, fmt.Sprintf("key column %s was %s and is %s", quoted(p.Name), p.Native, c.Native))
		case c.Reordered(p):
			return nil, drift(r, fmt.Sprintf("key column %s was sorted by %s and is by %s", quoted(p.Name), p.Collation, c.Collation))
		case c.Nullable && !p.Nullable:
			return nil, drift(r, "key column "+quoted(p.Name)+" was NOT NULL and may be NULL now")
		}
	}
	return key, nil
}

// planned finds a planned column among the columns of now, together with the
// one that it falls back on.
func planned(p keyspace.Column, r relation, now []column) (column, error) {
	find := func(name string) (column, error) {
		at := slices.IndexFunc(now, func(c column) bool { return c.Name == name })
		if at < 0 {
			return column{}, drift(r, "key column "+quoted(name)+" is gone")
		}
		return now[at], nil
	}
	c, err := find(p.Name)
	if err != nil || p.Fallback == "" {
		return c, err
	}
	second, err := find(p.Fallback)
	if err != nil {
		return c, err
	}
	if c.declared() != second.declared() || c.collation != second.collation {
		return c, fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "%s: cursor_column %s is %s and cursor_fallback_column %s is %s: they have to be of one type, length and collation; nothing was read",
			r, quoted(c.Name), c.declared(), quoted(second.Name), second.declared())
	}
	c.fallback, c.notNull = second.Name, c.notNull || second.notNull
	return c, nil
}

// conditions are those of one range of a key.
func conditions(r keyspace.Range, key []column) ([]string, error) {
	columns := make([]predicate.Column, len(key))
	for i, c := range key {
		columns[i] = predicate.Column{Expression: c.expression(), NotNull: c.notNull}
	}
	return predicate.Range(r, columns, func(operator string, at keyspace.Key) (string, error) { return compared(key, operator, at) })
}

// compared compares a key of several columns with one value, in a form that an
// index is found for: a >= 1 and (a > 1 or a = 1 and b > 2). operator is > or <=.
func compared(key []column, operator string, at keyspace.Key) (string, error) {
	last := len(key) - 1
	condition := ""
	for i := last; i >= 0; i-- {
		value, err := key[i].constant(at[i])
		if err != nil {
			return "", err
		}
		c, strict := key[i].expression(), operator[:1]
		if i == last {
			condition = c + " " + operator + " " + value
			continue
		}
		condition = c + " " + strict + "= " + value + " and (" + c + " " + strict + " " + value + " or " + c + " = " + value + " and (" + condition + "))"
	}
	return "(" + condition + ")", nil
}

// orderBy sorts by the key in the server's own order, the one that bounds are
// compared in.
func orderBy(key []column, direction string) string {
	names := make([]string, len(key))
	for i, c := range key {
		names[i] = c.expression() + direction
	}
	return " order by " + strings.Join(names, ", ")
}

func hexText(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }
