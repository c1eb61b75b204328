package rowtype

import "fmt"

// MySQLType is a type of MySQL or MariaDB as information_schema.columns has it.
type MySQLType struct {
	Name     string // data_type, such as "int"
	Unsigned bool
	// Width is the display width of a tinyint, the bits of a bit and the length
	// of a char or binary; 0 is unknown.
	Width int
	// Precision and Scale are those of a decimal; Scale is also how many digits
	// the seconds of a temporal type have after the point.
	Precision, Scale int
	// JSON is true for MariaDB's json, which is a longtext with a check.
	JSON bool
}

// mysqlDigits is how many decimal digits the values of an integer type have at
// most, signed or not.
var mysqlDigits = map[string]int{"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}

// Native is what Column.Native says: the type as it is declared, but for the
// lengths and display widths that change nothing.
func (t MySQLType) Native() string {
	s := t.Name
	switch t.Name {
	case "decimal":
		s = fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case "datetime", "timestamp", "time":
		if t.Scale > 0 {
			s = fmt.Sprintf("%s(%d)", t.Name, t.Scale)
		}
	case "tinyint":
		if t.Width == 1 && !t.Unsigned {
			s = "tinyint(1)"
		}
	case "bit":
		if t.Width > 0 {
			s = fmt.Sprintf("bit(%d)", t.Width)
		}
	case "longtext":
		if t.JSON {
			return "json"
		}
	}
	if t.Unsigned {
		s += " unsigned"
	}
	return s
}

func (t MySQLType) row() string {
	_, integer := mysqlDigits[t.Name]
	switch {
	case t.JSON:
		return "json"
	case t.spatial():
		return "geometry"
	case integer && t.Unsigned:
		return t.Name + " unsigned"
	case t.Width == 1 && (t.Name == "tinyint" || t.Name == "bit"):
		return t.Name + "(1)"
	}
	return t.Name
}

// Map implements [SourceType].
func (t MySQLType) Map() (Mapping, error) {
	m, ok := MySQLTable.mapping(t)
	if !ok {
		return m, t.unmapped("has no mapping")
	}
	if m.Type.Kind == Decimal {
		return m.declared(t, t.Precision, t.Scale, MaxPrecision)
	}
	return m, nil
}

// Override implements [SourceType].
func (t MySQLType) Override(to Type) (Mapping, error) {
	mapped, err := t.Map()
	if err == nil && mapped.Type.String() == to.String() {
		return mapped, nil
	}
	_, isInteger := mysqlDigits[t.Name]
	isText := t.text()
	ok := false
	switch to.Kind {
	case Text:
		if isText {
			return Mapping{Type: to, Fidelity: Exact}, nil
		}
		if t.hasServerText() {
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: ServerText, ServerText: true}, nil
		}
	case JSON:
		if isText {
			return Mapping{Type: to, Fidelity: LogicalString}, nil
		}
	case Bool:
		ok = t.Name == "tinyint" || t.Name == "bit"
	case Int16, Int32, Int64:
		ok = isInteger || t.Name == "bit" || t.Name == "year"
	case Decimal:
		ok = t.Name == "decimal" || isInteger && to.Precision-to.Scale >= mysqlDigits[t.Name]
	case Float64:
		ok = t.Name == "float"
	case Timestamp:
		ok = to.Nano && (t.Name == "timestamp" && to.UTC || t.Name == "datetime" && !to.UTC)
	case UUID:
		ok = isText || t.Name == "binary" || t.Name == "varbinary" || t.Name == "uuid"
	}
	if ok {
		return Mapping{Type: to, Fidelity: Compatible}, nil
	}
	return Mapping{}, changed(t, to, mapped, err)
}

// text reports whether values are text already.
func (t MySQLType) text() bool {
	m, err := t.Map()
	return err == nil && m.Type.IsText()
}

// hasServerText reports whether the server's text of a value is exactly the
// value: that of a float has six digits, and that of bits is bytes.
func (t MySQLType) hasServerText() bool {
	switch t.Name {
	case "float", "bit", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector", "":
		return false
	}
	return !t.spatial()
}

// spatial reports whether values are geometry.
func (t MySQLType) spatial() bool {
	switch t.Name {
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		return true
	}
	return false
}

func (t MySQLType) unmapped(why string) error {
	advice := "use a query: that casts it to a type with a mapping or leaves it out"
	switch {
	case t.spatial():
		advice = "use a query: with st_asbinary(…) or st_astext(…) of it, or leave it out"
	case t.Name == "uuid":
		advice = "set it to uuid or text under columns:"
	case t.hasServerText():
		advice = "set it to text under columns:"
	}
	return &UnmappedError{Native: t.Native(), Why: why, Advice: advice}
}
