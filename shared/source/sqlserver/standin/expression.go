package standin

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// kind is the type of an expression.
type kind struct {
	tdsfake.Type
	collation string
}

func kindOf(name string) kind { return kind{Type: tdsfake.Type{Name: name}} }

// expression is a value, or a condition, whose value is a bool or nil for
// unknown.
type expression interface {
	eval(e *scope) (any, error)
	kind(e *scope) kind
}

type (
	constant struct {
		value any
		of    kind
	}
	columnRef struct{ alias, name string }
	call      struct {
		name      string
		arguments []expression
	}
	conversion struct {
		to    kind
		value expression
		style int
	}
	collated struct {
		value     expression
		collation string
	}
	caseWhen struct {
		conditions, values []expression
		otherwise          expression // nil for NULL
	}
	binaryOp struct {
		operator    string
		left, right expression
	}
	isNull struct {
		value expression
		not   bool
	}
	isIn struct {
		value expression
		list  []expression
	}
	negation struct{ value expression }
)

func (p *parser) expression() (expression, error) {
	return p.chain([]string{"or"}, func() (expression, error) {
		return p.chain([]string{"and"}, p.condition)
	})
}

// chain reads operands between operators of one rank.
func (p *parser) chain(operators []string, operand func() (expression, error)) (expression, error) {
	left, err := operand()
	for err == nil {
		operator := p.peek().text
		if kind := p.peek().kind; kind != word && kind != sign || !slices.Contains(operators, operator) {
			break
		}
		p.at++
		var right expression
		right, err = operand()
		left = binaryOp{operator: operator, left: left, right: right}
	}
	return left, err
}

func (p *parser) condition() (expression, error) {
	if p.take("not") {
		value, err := p.condition()
		return negation{value}, err
	}
	left, err := p.chain([]string{"+", "&"}, p.operand)
	if err != nil {
		return nil, err
	}
	switch {
	case p.take("is", "null"):
		return isNull{value: left}, nil
	case p.take("is", "not", "null"):
		return isNull{value: left, not: true}, nil
	case p.take("in", "("):
		list, err := p.arguments()
		return isIn{value: left, list: list}, err
	}
	if operator := p.peek(); operator.kind == sign && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, operator.text) {
		p.at++
		right, err := p.chain([]string{"+", "&"}, p.operand)
		return binaryOp{operator: operator.text, left: left, right: right}, err
	}
	return left, nil
}

func (p *parser) operand() (expression, error) {
	value, err := p.primary()
	if err == nil && p.take("collate") {
		p.at++
		return collated{value: value, collation: p.all[p.at-1].text}, nil
	}
	return value, err
}

func (p *parser) primary() (expression, error) {
	t := p.peek()
	p.at++
	switch t.kind {
	case text:
		return constant{value: t.text, of: kind{Type: tdsfake.Type{Name: "nvarchar", Length: -1}}}, nil
	case number:
		return numberConstant(t.text), nil
	case bytesToken:
		b, err := hex.DecodeString(t.text)
		return constant{value: b, of: kind{Type: tdsfake.Type{Name: "varbinary", Length: -1}}}, err
	case sign:
		switch t.text {
		case "(":
			value, err := p.expression()
			if err == nil {
				err = p.need(")")
			}
			return value, err
		case "-":
			if p.peek().kind == number {
				p.at++
				return numberConstant("-" + p.all[p.at-1].text), nil
			}
		}
	case word:
		switch {
		case t.text == "null":
			return constant{of: kindOf("int")}, nil
		case t.text == "case":
			return p.caseWhen()
		case t.text == "convert" && p.take("("):
			return p.conversion()
		case p.take("("):
			arguments, err := p.arguments()
			return call{name: t.text, arguments: arguments}, err
		case strings.HasPrefix(t.text, "@@"):
			return call{name: t.text}, nil
		}
		fallthrough
	case name:
		if p.take(".") {
			column, err := p.named()
			return columnRef{alias: t.text, name: column}, err
		}
		return columnRef{name: t.text}, nil
	}
	return nil, refused("%q begins no expression", t.text)
}

func numberConstant(s string) expression {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return constant{value: n, of: kindOf("bigint")}
	}
	r, _ := new(big.Rat).SetString(s)
	return constant{value: r, of: kind{Type: tdsfake.Type{Name: "decimal", Precision: 38}}}
}

func (p *parser) caseWhen() (expression, error) {
	var c caseWhen
	for p.take("when") {
		condition, err := p.expression()
		if err == nil {
			err = p.need("then")
		}
		if err != nil {
			return nil, err
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		c.conditions, c.values = append(c.conditions, condition), append(c.values, value)
	}
	if p.take("else") {
		var err error
		if c.otherwise, err = p.expression(); err != nil {
			return nil, err
		}
	}
	return c, p.need("end")
}

// conversion reads the rest of convert(type, value, style).
func (p *parser) conversion() (expression, error) {
	var c conversion
	var err error
	if c.to.Name, err = p.named(); err != nil {
		return nil, err
	}
	var sizes []int
	if p.take("(") {
		for !p.take(")") {
			n := -1 // max
			if p.peek().kind == number {
				n, _ = strconv.Atoi(p.peek().text)
			}
			sizes = append(sizes, n)
			p.at++
			p.take(",")
		}
	}
	c.to.Type = sizedType(c.to.Name, sizes)
	if err := p.need(","); err != nil {
		return nil, err
	}
	if c.value, err = p.expression(); err != nil {
		return nil, err
	}
	if p.take(",") {
		c.style, _ = strconv.Atoi(p.peek().text)
		p.at++
	}
	return c, p.need(")")
}

func sizedType(name string, sizes []int) tdsfake.Type {
	t := tdsfake.Type{Name: name}
	first := func(otherwise int) int {
		if len(sizes) > 0 {
			return sizes[0]
		}
		return otherwise
	}
	switch name {
	case "decimal", "numeric":
		if t.Precision = first(18); len(sizes) > 1 {
			t.Scale = sizes[1]
		}
	case "datetime2", "datetimeoffset", "time":
		t.Scale = first(7)
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		t.Length = first(30)
	}
	return t
}
