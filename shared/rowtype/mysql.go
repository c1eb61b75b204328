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

// MySQLMapping is how the values of a MySQLType are delivered.
type MySQLMapping struct {
	Type     Type
	Fidelity string
	TextForm string
	// ServerText is true when the server turns each value into text before it
	// sends it.
	ServerText bool
}

// mysqlTypes maps the types that need no look at their parameters (reference
// §4.2).
var mysqlTypes = map[string]MySQLMapping{
	"smallint":   {Type: Type{Kind: Int16}, Fidelity: Exact},
	"mediumint":  {Type: Type{Kind: Int32}, Fidelity: Compatible},
	"int":        {Type: Type{Kind: Int32}, Fidelity: Exact},
	"bigint":     {Type: Type{Kind: Int64}, Fidelity: Exact},
	"year":       {Type: Type{Kind: Int16}, Fidelity: Compatible},
	"float":      {Type: Type{Kind: Float32}, Fidelity: Exact},
	"double":     {Type: Type{Kind: Float64}, Fidelity: Exact},
	"date":       {Type: Type{Kind: Date}, Fidelity: Exact},
	"time":       {Type: Type{Kind: Time}, Fidelity: Exact},
	"datetime":   {Type: Type{Kind: Timestamp}, Fidelity: Exact},
	"timestamp":  {Type: Type{Kind: Timestamp, UTC: true}, Fidelity: Exact},
	"char":       {Type: Type{Kind: Text}, Fidelity: Exact},
	"varchar":    {Type: Type{Kind: Text}, Fidelity: Exact},
	"tinytext":   {Type: Type{Kind: Text}, Fidelity: Exact},
	"text":       {Type: Type{Kind: Text}, Fidelity: Exact},
	"mediumtext": {Type: Type{Kind: Text}, Fidelity: Exact},
	"longtext":   {Type: Type{Kind: Text}, Fidelity: Exact},
	"binary":     {Type: Type{Kind: Binary}, Fidelity: Exact},
	"varbinary":  {Type: Type{Kind: Binary}, Fidelity: Exact},
	"tinyblob":   {Type: Type{Kind: Binary}, Fidelity: Exact},
	"blob":       {Type: Type{Kind: Binary}, Fidelity: Exact},
	"mediumblob": {Type: Type{Kind: Binary}, Fidelity: Exact},
	"longblob":   {Type: Type{Kind: Binary}, Fidelity: Exact},
	"json":       {Type: Type{Kind: JSON}, Fidelity: LogicalString},
	"enum":       {Type: Type{Kind: Enum}, Fidelity: LogicalString},
	"set":        {Type: Type{Kind: Enum}, Fidelity: LogicalString},
}

// mysqlUnsigned are the integers whose unsigned values need more room.
var mysqlUnsigned = map[string]Type{
	"smallint": {Kind: Int32}, "mediumint": {Kind: Int32}, "int": {Kind: Int64}, "bigint": {Kind: UInt64},
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

// Map returns how the type is delivered without an override, or an
// *UnmappedError.
func (t MySQLType) Map() (MySQLMapping, error) {
	switch t.Name {
	case "tinyint":
		if t.Width == 1 && !t.Unsigned {
			return MySQLMapping{Type: Type{Kind: Bool}, Fidelity: Compatible}, nil
		}
		return MySQLMapping{Type: Type{Kind: Int16}, Fidelity: Compatible}, nil
	case "bit":
		if t.Width == 1 {
			return MySQLMapping{Type: Type{Kind: Bool}, Fidelity: Compatible}, nil
		}
		return MySQLMapping{Type: Type{Kind: Int64}, Fidelity: Compatible}, nil
	case "decimal":
		if t.Precision < 1 || t.Precision > MaxPrecision || t.Scale < 0 || t.Scale > t.Precision {
			return MySQLMapping{}, t.unmapped("has no precision that can be delivered")
		}
		return MySQLMapping{Type: Type{Kind: Decimal, Precision: t.Precision, Scale: t.Scale}, Fidelity: Exact}, nil
	}
	if wider, ok := mysqlUnsigned[t.Name]; ok && t.Unsigned {
		fidelity := Compatible
		if wider.Kind == UInt64 {
			fidelity = Exact
		}
		return MySQLMapping{Type: wider, Fidelity: fidelity}, nil
	}
	if t.JSON {
		return mysqlTypes["json"], nil
	}
	if m, ok := mysqlTypes[t.Name]; ok {
		return m, nil
	}
	return MySQLMapping{}, t.unmapped("has no mapping")
}

// Override returns how the type is delivered as another one that holds every
// value exactly, or whose reader refuses, by name, the value that does not fit;
// anything else is an *UnmappedError (reference §4.6).
func (t MySQLType) Override(to Type) (MySQLMapping, error) {
	mapped, err := t.Map()
	if err == nil && mapped.Type.String() == to.String() {
		return mapped, nil
	}
	_, isInteger := mysqlDigits[t.Name]
	_, isText := t.text()
	ok := false
	switch to.Kind {
	case Text:
		if isText {
			return MySQLMapping{Type: to, Fidelity: Exact}, nil
		}
		if t.hasServerText() {
			return MySQLMapping{Type: to, Fidelity: LogicalString, TextForm: ServerText, ServerText: true}, nil
		}
	case JSON:
		if isText {
			return MySQLMapping{Type: to, Fidelity: LogicalString}, nil
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
		return MySQLMapping{Type: to, Fidelity: Compatible}, nil
	}
	why := "cannot be delivered as " + to.String() + " without changing values"
	if err != nil {
		return MySQLMapping{}, t.unmapped(why)
	}
	return MySQLMapping{}, &UnmappedError{Native: t.Native(), Why: why, Advice: "leave the override out for " + mapped.Type.String()}
}

// text reports whether values are text already.
func (t MySQLType) text() (MySQLMapping, bool) {
	m, ok := mysqlTypes[t.Name]
	return m, ok && m.Type.IsText()
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
