package standin

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// relation is what a query reads, or gives.
type relation struct {
	columns []Column
	rows    [][]any
}

// scope is what the expressions of a query see.
type scope struct {
	session *session
	columns []Column
	places  map[string]int // of columns, by alias and name
	row     []any
	group   [][]any // the rows that an aggregate sees, nil outside of one
}

func (e *scope) place(c columnRef) (int, error) {
	if at, ok := e.places[c.alias+"\x00"+c.name]; ok {
		return at, nil
	}
	return 0, tdsfake.Error{Number: 207, Class: 16, Message: "Invalid column name '" + c.name + "'."}
}

func (c constant) eval(*scope) (any, error) { return c.value, nil }
func (c constant) kind(*scope) kind         { return c.of }

func (c columnRef) eval(e *scope) (any, error) {
	at, err := e.place(c)
	if err != nil || e.row == nil {
		return nil, err
	}
	return e.row[at], nil
}

func (c columnRef) kind(e *scope) kind {
	at, err := e.place(c)
	if err != nil {
		return kindOf("int")
	}
	return kind{Type: e.columns[at].Type, collation: e.columns[at].Collation}
}

func (c collated) eval(e *scope) (any, error) { return c.value.eval(e) }

func (c collated) kind(e *scope) kind {
	k := c.value.kind(e)
	k.collation = c.collation
	return k
}

func (c caseWhen) eval(e *scope) (any, error) {
	for i, condition := range c.conditions {
		holds, err := condition.eval(e)
		if err != nil {
			return nil, err
		}
		if holds == true {
			return c.values[i].eval(e)
		}
	}
	if c.otherwise == nil {
		return nil, nil
	}
	return c.otherwise.eval(e)
}

func (c caseWhen) kind(e *scope) kind { return c.values[0].kind(e) }

func (n negation) eval(e *scope) (any, error) {
	v, err := n.value.eval(e)
	if b, ok := v.(bool); ok {
		return !b, err
	}
	return nil, err
}

func (n negation) kind(*scope) kind { return kindOf("bit") }

func (i isNull) eval(e *scope) (any, error) {
	v, err := i.value.eval(e)
	return (v == nil) != i.not, err
}

func (i isNull) kind(*scope) kind { return kindOf("bit") }

func (i isIn) eval(e *scope) (any, error) {
	found := any(false)
	for _, one := range i.list {
		v, err := binaryOp{operator: "=", left: i.value, right: one}.eval(e)
		if err != nil || v == true {
			return v, err
		}
		if v == nil {
			found = nil
		}
	}
	return found, nil
}

func (i isIn) kind(*scope) kind { return kindOf("bit") }

func (b binaryOp) kind(e *scope) kind {
	if b.operator == "+" || b.operator == "&" {
		return b.left.kind(e)
	}
	return kindOf("bit")
}

func (b binaryOp) eval(e *scope) (any, error) {
	left, err := b.left.eval(e)
	if err != nil {
		return nil, err
	}
	if b.operator == "and" && left == false || b.operator == "or" && left == true {
		return left, nil
	}
	right, err := b.right.eval(e)
	if err != nil {
		return nil, err
	}
	switch {
	case b.operator == "and" && right == false || b.operator == "or" && right == true:
		return right, nil
	case left == nil || right == nil:
		return nil, nil
	case b.operator == "and" || b.operator == "or":
		return right, nil
	case b.operator == "+":
		return plus(left, right)
	case b.operator == "&":
		return left.(int64) & right.(int64), nil
	}
	order, err := compare(left, right)
	if err != nil {
		return nil, err
	}
	switch b.operator {
	case "=":
		return order == 0, nil
	case "<>":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func plus(left, right any) (any, error) {
	switch l := left.(type) {
	case int64:
		if r, ok := right.(int64); ok {
			return l + r, nil
		}
	case string:
		if r, ok := right.(string); ok {
			return l + r, nil
		}
	}
	return nil, fmt.Errorf("%T plus %T", left, right)
}

// run answers a query.
func (s *session) run(q *query) (relation, error) {
	e, rows, err := s.sources(q)
	if err != nil {
		return relation{}, err
	}
	if q.where != nil {
		var kept [][]any
		for _, r := range rows {
			e.row = r
			holds, err := q.where.eval(e)
			if err != nil {
				return relation{}, err
			}
			if holds == true {
				kept = append(kept, r)
			}
		}
		rows = kept
	}
	if len(q.sources) > 0 {
		for _, i := range q.items {
			if !i.star && aggregates(i.value) {
				e.row, e.group = nil, append([][]any{}, rows...)
				rows = [][]any{nil}
				break
			}
		}
	} else {
		rows = [][]any{nil}
	}
	if rows, err = sorted(e, rows, q.order); err != nil {
		return relation{}, err
	}
	if q.top >= 0 && len(rows) > q.top {
		rows = rows[:q.top]
	}
	return s.project(q, e, rows)
}

// project evaluates the select list.
func (s *session) project(q *query, e *scope, rows [][]any) (relation, error) {
	var out relation
	for _, i := range q.items {
		if i.star {
			out.columns = append(out.columns, e.columns...)
			continue
		}
		if c, ok := i.value.(columnRef); ok {
			if _, err := e.place(c); err != nil {
				return out, err
			}
		}
		k := i.value.kind(e)
		out.columns = append(out.columns, Column{Name: i.name, Type: k.Type, Collation: k.collation})
	}
	for _, r := range rows {
		var values []any
		for _, i := range q.items {
			if i.star {
				values = append(values, r...)
				continue
			}
			e.row = r
			v, err := i.value.eval(e)
			if err != nil {
				return out, err
			}
			values = append(values, v)
		}
		out.rows = append(out.rows, values)
	}
	return out, nil
}

// sources joins what a query reads from.
func (s *session) sources(q *query) (*scope, [][]any, error) {
	e := &scope{session: s, places: map[string]int{}}
	rows := [][]any{nil}
	for _, o := range q.sources {
		from, err := s.open(o)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range from.columns {
			e.places[o.alias+"\x00"+c.Name], e.places["\x00"+c.Name] = len(e.columns), len(e.columns)
			e.columns = append(e.columns, c)
		}
		var joined [][]any
		for _, left := range rows {
			for _, right := range from.rows {
				e.row = append(append(make([]any, 0, len(left)+len(right)), left...), right...)
				if o.on != nil {
					holds, err := o.on.eval(e)
					if err != nil {
						return nil, nil, err
					}
					if holds != true {
						continue
					}
				}
				joined = append(joined, e.row)
			}
		}
		rows = joined
	}
	return e, rows, nil
}

// aggregates reports whether an expression is about a group of rows.
func aggregates(x expression) bool {
	switch x := x.(type) {
	case call:
		switch x.name {
		case "min", "max", "sum", "count_big":
			return true
		}
		for _, a := range x.arguments {
			if aggregates(a) {
				return true
			}
		}
	case conversion:
		return aggregates(x.value)
	}
	return false
}

func (c call) aggregate(e *scope) (any, error) {
	if e.group == nil {
		return nil, errors.New("an aggregate without a group")
	}
	var result any
	if c.name == "count_big" {
		return int64(len(e.group)), nil
	}
	inner := *e
	inner.group = nil
	for _, r := range e.group {
		inner.row = r
		v, err := c.arguments[0].eval(&inner)
		if err != nil {
			return nil, err
		}
		switch {
		case v == nil:
		case result == nil:
			result = v
		case c.name == "sum":
			if result, err = plus(result, v); err != nil {
				return nil, err
			}
		default:
			order, err := compare(v, result)
			if err != nil {
				return nil, err
			}
			if order < 0 == (c.name == "min") && order != 0 {
				result = v
			}
		}
	}
	return result, nil
}

func (c call) kind(e *scope) kind {
	switch c.name {
	case "min", "max", "coalesce", "lower", "substring", "sum":
		return c.arguments[0].kind(e)
	case "min_active_rowversion":
		return kind{Type: tdsfake.Type{Name: "binary", Length: 8}}
	case "sysutcdatetime", "dateadd":
		return kind{Type: tdsfake.Type{Name: "datetime2", Scale: 7}}
	case "db_name", "schema_name", "serverproperty":
		return kind{Type: tdsfake.Type{Name: "nvarchar", Length: 128}}
	}
	return kindOf("bigint")
}

func (c call) eval(e *scope) (any, error) {
	switch c.name {
	case "min", "max", "sum", "count_big":
		return c.aggregate(e)
	case "coalesce":
		for _, a := range c.arguments {
			if v, err := a.eval(e); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}
	var values []any
	for i, a := range c.arguments {
		if c.name == "dateadd" && i == 0 { // the name of a unit
			values = append(values, a.(columnRef).name)
			continue
		}
		v, err := a.eval(e)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return e.session.function(c.name, values, func(i int) kind { return c.arguments[i].kind(e) })
}

func ratOf(v any) (*big.Rat, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case *big.Rat:
		return v, true
	}
	return nil, false
}

func padded(s string) string { return strings.TrimRight(s, " ") }
