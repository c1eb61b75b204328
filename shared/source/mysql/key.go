package mysql

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source/predicate"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// family is what a bound of a type looks like in a statement.
type family uint8

const (
	noFamily family = iota // no bound can be written of it
	wholeFamily
	decimalFamily
	floatFamily
	timeFamily // dates and times
	textFamily
	bytesFamily
)

// families are the types whose values have a text that means the same value
// again, and whose order is that of comparing with it. An enum is sorted by
// its place in the list and compared by its label; a year of two digits means
// another; bits are neither number nor text.
var families = map[string]family{
	"tinyint": wholeFamily, "smallint": wholeFamily, "mediumint": wholeFamily, "int": wholeFamily, "bigint": wholeFamily,
	"decimal": decimalFamily, "float": floatFamily, "double": floatFamily,
	"date": timeFamily, "datetime": timeFamily, "timestamp": timeFamily, "time": timeFamily,
	"char": textFamily, "varchar": textFamily, "tinytext": textFamily, "text": textFamily, "mediumtext": textFamily, "longtext": textFamily, "uuid": textFamily,
	"binary": bytesFamily, "varbinary": bytesFamily, "tinyblob": bytesFamily, "blob": bytesFamily, "mediumblob": bytesFamily, "longblob": bytesFamily,
}

func (c column) family() family { return families[c.mysql.Name] }

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

// keyText is the value as text that constant reads as the same value.
func (c column) keyText(expression string) string {
	switch c.family() {
	case floatFamily: // the text of a float has six digits
		return "cast(" + expression + " + 0e0 as char)"
	case bytesFamily:
		return "hex(" + expression + ")"
	case textFamily:
		return "convert(" + expression + " using utf8mb4)"
	}
	return "cast(" + expression + " as char)"
}

var (
	wholeNumber   = regexp.MustCompile(`^-?[0-9]{1,20}$`)
	decimalNumber = regexp.MustCompile(`^-?[0-9]{0,65}(\.[0-9]{0,38})?$`)
	floatNumber   = regexp.MustCompile(`^-?[0-9.]{1,400}([eE][-+]?[0-9]{1,3})?$`)
	hexNumber     = regexp.MustCompile(`^([0-9A-Fa-f]{2})*$`)
)

// constant is a value of the column's type. What is put unquoted into a
// statement is looked at first.
func (c column) constant(text string) (string, error) {
	family := c.family()
	switch c.bound {
	case boundTime: // also a date is compared as the midnight that it starts with
		return "timestamp" + sqltext.MySQL.Literal(text), nil
	case boundDecimal:
		family = decimalFamily
	}
	ok := true
	switch family {
	case wholeFamily:
		ok = wholeNumber.MatchString(text)
	case decimalFamily:
		ok = decimalNumber.MatchString(text) && strings.ContainsAny(text, "0123456789")
	case floatFamily:
		if ok = floatNumber.MatchString(text); ok && !strings.ContainsAny(text, "eE") {
			text += "e0" // without it, it would be a decimal
		}
	case timeFamily:
		text = sqltext.MySQL.Literal(text)
	case textFamily:
		text = c.textConstant(text)
	case bytesFamily:
		ok = hexNumber.MatchString(text)
		text = "X'" + text + "'"
	default:
		ok = false
	}
	if !ok {
		return "", fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound of column %s is no %s", quoted(c.Name), c.Native)
	}
	return text, nil
}

// plainConstants are the character sets in which a constant of the session can
// be compared as it is; "" is that of a uuid, or is not known.
var plainConstants = map[string]bool{"": true, "utf8mb4": true}

// textConstant is a text in the character set and the collation of the column.
// A server that compares a list of rows may take a constant's bytes for text of
// the column's character set, so that no row is found in the list; and it
// refuses to compare a column with a character that the set does not have.
func (c column) textConstant(text string) string {
	constant := sqltext.MySQL.Literal(text)
	if plainConstants[c.charset] {
		return constant
	}
	return "convert(" + constant + " using " + c.charset + ") collate " + c.collation
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
	if c.key().Native != second.key().Native || c.collation != second.collation {
		return c, fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "%s: cursor_column %s is %s and cursor_fallback_column %s is %s: they have to be of one type and collation; nothing was read",
			r, quoted(c.Name), c.Native, quoted(second.Name), second.Native)
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

// compared compares a key of several columns with one value, as
// (a, b) > (1, 2) does: the server finds no index for that form, and does for
// a >= 1 and (a > 1 or (a = 1 and b > 2)). operator is >, >=, < or <=.
func compared(key []column, operator string, at keyspace.Key) (string, error) {
	if len(at) != len(key) {
		return "", fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound has %d values for a key of %d columns", len(at), len(key))
	}
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

// equal compares a key of several columns with one value.
func equal(key []column, at keyspace.Key) (string, error) {
	parts := make([]string, len(key))
	for i, c := range key {
		value, err := c.constant(at[i])
		if err != nil {
			return "", err
		}
		parts[i] = c.expression() + " = " + value
	}
	return strings.Join(parts, " and "), nil
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
