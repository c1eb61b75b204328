package rowtype

import "fmt"

// PostgresType is a type of PostgreSQL as its catalog resolves it: a domain is
// the type under it.
type PostgresType struct {
	Name    string // pg_type.typname, such as "int4"
	BuiltIn bool   // it is in pg_catalog
	Class   byte   // pg_type.typtype: 'b'ase, 'e'num, 'r'ange, 'm'ultirange, 'c'omposite, 'p'seudo
	// Modifier is the type modifier, -1 for none.
	Modifier int32
	// Elem is what an array is of; nil for everything else.
	Elem *PostgresType
	// Parts are the types that the values of a composite, a range or a
	// multirange are made of.
	Parts []PostgresType
}

// searchPathText are the types whose text depends on the reader's search path.
var searchPathText = map[string]bool{
	"regclass": true, "regcollation": true, "regconfig": true, "regdictionary": true, "regnamespace": true, "regoper": true,
	"regoperator": true, "regproc": true, "regprocedure": true, "regrole": true, "regtype": true,
}

// Native is what Column.Native says: the catalog's name, with precision and
// scale for a numeric that has them.
func (t PostgresType) Native() string {
	if p, s, ok := t.numeric(); ok {
		return fmt.Sprintf("numeric(%d,%d)", p, s)
	}
	return t.Name
}

// numeric returns the precision and scale of a numeric that has them. The
// scale has 11 bits with a sign since PostgreSQL 15; before, it was never
// large enough to tell the difference.
func (t PostgresType) numeric() (precision, scale int, ok bool) {
	if !t.BuiltIn || t.Name != "numeric" || t.Modifier < 4 {
		return 0, 0, false
	}
	m := t.Modifier - 4
	return int(m >> 16 & 0xffff), int(m&0x7ff^1024) - 1024, true
}

// Names of rows that are not names of types.
const (
	rowEnum         = "enum"
	rowRange        = "range"
	rowMultirange   = "multirange"
	rowComposite    = "composite"
	rowPseudo       = "pseudo"
	rowExtension    = "extension"
	rowSearchPath   = "reg"
	rowCatalogOnly  = "of the catalog only"
	rowArray        = "array"
	rowArrayOfOther = "array of other"
	rowNumeric      = "numeric"
	rowDecimal      = "numeric(p,s)"
	rowBeyond       = "numeric beyond"
)

func (t PostgresType) row() string {
	switch {
	case t.Elem != nil:
		switch elem, _ := PostgresTable.RowOf(*t.Elem); elem.Type.Kind {
		case "", Decimal, List:
			return rowArrayOfOther
		}
		return rowArray
	case t.BuiltIn && t.Name == "numeric":
		switch p, s, ok := t.numeric(); {
		case !ok:
			return rowNumeric
		case p > MaxPrecision || s < 0 || s > p:
			return rowBeyond
		}
		return rowDecimal
	case t.BuiltIn && searchPathText[t.Name]:
		return rowSearchPath
	case t.BuiltIn && catalogOnly[t.Name]:
		return rowCatalogOnly
	case t.Class == 'b' && (t.BuiltIn || t.Name == "citext"):
		return t.Name
	}
	switch t.Class {
	case 'e':
		return rowEnum
	case 'r':
		return rowRange
	case 'm':
		return rowMultirange
	case 'c':
		return rowComposite
	case 'b':
		return rowExtension
	}
	return rowPseudo
}

// Map implements [SourceType].
func (t PostgresType) Map() (Mapping, error) {
	m, ok := PostgresTable.mapping(t)
	if !ok {
		switch t.row() {
		case rowArrayOfOther:
			return m, t.unmapped("is an array of " + t.Elem.Native() + ", which has no list form")
		case rowNumeric:
			return m, t.unmapped("has no declared precision")
		case rowBeyond:
			return m, t.unmapped("is outside decimal(76,s) with a scale from 0 to the precision")
		}
		return m, t.unmapped("has no mapping")
	}
	switch m.Type.Kind {
	case Decimal:
		m.Type.Precision, m.Type.Scale, _ = t.numeric()
	case List:
		elem, err := t.Elem.Map()
		if err != nil {
			return Mapping{}, err
		}
		m.Type.Elem = &elem.Type
	}
	return m, nil
}

// integerDigits is how many decimal digits the values of a type have at most.
var integerDigits = map[string]int{"int2": 5, "int4": 10, "int8": 19, "oid": 10}

// Override implements [SourceType].
func (t PostgresType) Override(to Type) (Mapping, error) {
	mapped, err := t.Map()
	if err == nil && mapped.Type.String() == to.String() {
		return mapped, nil
	}
	name := ""
	if t.BuiltIn && t.Elem == nil {
		name = t.Name
	}
	switch to.Kind {
	case Text:
		switch {
		case t.HasServerText():
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: ServerText, Casts: []string{"text"}}, nil
		case name == "money":
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: DecimalPlain, Casts: []string{"numeric", "text"}}, nil
		case t.isArrayOfMoney():
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: DecimalPlain, Casts: []string{"numeric[]", "text"}}, nil
		}
	case Decimal:
		switch digits := integerDigits[name]; {
		case name == "numeric":
			return Mapping{Type: to, Fidelity: Exact}, nil
		case name == "money":
			return Mapping{Type: to, Fidelity: Exact, Casts: []string{"numeric"}}, nil
		case digits > 0 && to.Precision-to.Scale >= digits:
			return Mapping{Type: to, Fidelity: Exact, Casts: []string{"numeric"}}, nil
		}
	case Int32:
		if name == "int2" {
			return Mapping{Type: to, Fidelity: Compatible, Casts: []string{"int4"}}, nil
		}
	case Int64:
		if name == "int2" || name == "int4" {
			return Mapping{Type: to, Fidelity: Compatible, Casts: []string{"int8"}}, nil
		}
	case Float64:
		if name == "float4" {
			return Mapping{Type: to, Fidelity: Compatible, Casts: []string{"float8"}}, nil
		}
	case Timestamp:
		if to.Nano && (name == "timestamptz" && to.UTC || name == "timestamp" && !to.UTC) {
			return Mapping{Type: to, Fidelity: Exact}, nil
		}
	}
	return Mapping{}, changed(t, to, mapped, err)
}

// HasServerText reports whether the server's text of a value means the same
// whatever the session and the database are set to, and so whether the server
// reads it as the same value again.
func (t PostgresType) HasServerText() bool {
	switch {
	case t.Elem != nil:
		return t.Elem.HasServerText()
	case t.BuiltIn && (t.Name == "money" || searchPathText[t.Name]):
		return false
	}
	for _, part := range t.Parts {
		if !part.HasServerText() {
			return false
		}
	}
	return t.Class == 'b' || t.Class == 'e' || t.Class == 'r' || t.Class == 'm' || t.Class == 'c'
}

func (t PostgresType) isArrayOfMoney() bool {
	return t.Elem != nil && t.Elem.Elem == nil && t.Elem.BuiltIn && t.Elem.Name == "money"
}

func (t PostgresType) unmapped(why string) error {
	return &UnmappedError{Native: t.Native(), Why: why, Advice: t.advice()}
}

// advice names the overrides that would work.
func (t PostgresType) advice() string {
	p, s, bounded := t.numeric()
	switch {
	case t.BuiltIn && t.Name == "money":
		return "set it to decimal(19,2) or text under columns:"
	case bounded && s < 0 && p-s <= MaxPrecision:
		return fmt.Sprintf("set it to decimal(%d,0) or text under columns:", p-s)
	case bounded && s > p && s <= MaxPrecision:
		return fmt.Sprintf("set it to decimal(%d,%d) or text under columns:", s, s)
	case t.BuiltIn && t.Name == "numeric" && !bounded:
		return "set it to the decimal(p,s) that holds its values, or to text, under columns:"
	case t.HasServerText() || t.isArrayOfMoney():
		return "set it to text under columns:"
	case t.Class == 'c':
		return "use a query: that turns it into to_jsonb(…) or leaves it out"
	}
	return "use a query: that casts it to a type with a mapping or leaves it out"
}
