package rowtype

import "fmt"

// SQLServerType is a type of SQL Server as its catalog has it.
type SQLServerType struct {
	Name string // such as "int"; a type made by a user has that of the type under it
	// Length is that of text or bytes, in characters or bytes; -1 is max.
	Length int
	// Precision and Scale are those of a decimal; Scale is also how many digits
	// the seconds of a temporal type have after the point.
	Precision, Scale int
}

// SQLServerMapping is how the values of a SQLServerType are delivered.
type SQLServerMapping struct {
	Type     Type
	Fidelity string
	TextForm string
	// ServerText is true when the server turns each value into text before it
	// sends it.
	ServerText bool
}

// sqlServerTypes maps the types that need no look at their parameters
// (reference §4.3).
var sqlServerTypes = map[string]SQLServerMapping{
	"bit":              {Type: Type{Kind: Bool}, Fidelity: Exact},
	"tinyint":          {Type: Type{Kind: Int16}, Fidelity: Compatible},
	"smallint":         {Type: Type{Kind: Int16}, Fidelity: Exact},
	"int":              {Type: Type{Kind: Int32}, Fidelity: Exact},
	"bigint":           {Type: Type{Kind: Int64}, Fidelity: Exact},
	"real":             {Type: Type{Kind: Float32}, Fidelity: Exact},
	"float":            {Type: Type{Kind: Float64}, Fidelity: Exact},
	"money":            {Type: Type{Kind: Decimal, Precision: 19, Scale: 4}, Fidelity: Compatible},
	"smallmoney":       {Type: Type{Kind: Decimal, Precision: 10, Scale: 4}, Fidelity: Compatible},
	"date":             {Type: Type{Kind: Date}, Fidelity: Exact},
	"smalldatetime":    {Type: Type{Kind: Timestamp}, Fidelity: Compatible},
	"datetime":         {Type: Type{Kind: Timestamp}, Fidelity: Compatible},
	"char":             {Type: Type{Kind: Text}, Fidelity: Exact},
	"varchar":          {Type: Type{Kind: Text}, Fidelity: Exact},
	"nchar":            {Type: Type{Kind: Text}, Fidelity: Exact},
	"nvarchar":         {Type: Type{Kind: Text}, Fidelity: Exact},
	"text":             {Type: Type{Kind: Text}, Fidelity: Exact},
	"ntext":            {Type: Type{Kind: Text}, Fidelity: Exact},
	"binary":           {Type: Type{Kind: Binary}, Fidelity: Exact},
	"varbinary":        {Type: Type{Kind: Binary}, Fidelity: Exact},
	"image":            {Type: Type{Kind: Binary}, Fidelity: Exact},
	"timestamp":        {Type: Type{Kind: Binary}, Fidelity: Exact},
	"uniqueidentifier": {Type: Type{Kind: UUID}, Fidelity: Exact},
}

// sqlServerDigits is how many decimal digits the values of an integer type have
// at most.
var sqlServerDigits = map[string]int{"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}

// Native is what Column.Native says: the type as it is declared, but for lengths.
func (t SQLServerType) Native() string {
	switch t.Name {
	case "decimal", "numeric":
		return fmt.Sprintf("%s(%d,%d)", t.Name, t.Precision, t.Scale)
	case "datetime2", "datetimeoffset", "time":
		return fmt.Sprintf("%s(%d)", t.Name, t.Scale)
	case "timestamp": // its other name, which is no date
		return "rowversion"
	}
	return t.Name
}

// Map returns how the type is delivered without an override, or an
// *UnmappedError. Of a time with a hundred nanoseconds the last digit is left
// out, which the fidelity says.
func (t SQLServerType) Map() (SQLServerMapping, error) {
	ticks := Exact
	if t.Scale > 6 {
		ticks = Lossy
	}
	switch t.Name {
	case "decimal", "numeric":
		if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
			return SQLServerMapping{}, t.unmapped("has no precision that can be delivered")
		}
		return SQLServerMapping{Type: Type{Kind: Decimal, Precision: t.Precision, Scale: t.Scale}, Fidelity: Exact}, nil
	case "time":
		return SQLServerMapping{Type: Type{Kind: Time}, Fidelity: ticks}, nil
	case "datetime2":
		return SQLServerMapping{Type: Type{Kind: Timestamp}, Fidelity: ticks}, nil
	case "datetimeoffset": // the instant; what its offset was is not kept
		return SQLServerMapping{Type: Type{Kind: Timestamp, UTC: true}, Fidelity: Lossy}, nil
	}
	if m, ok := sqlServerTypes[t.Name]; ok {
		return m, nil
	}
	return SQLServerMapping{}, t.unmapped("has no mapping")
}

// Override returns how the type is delivered as another one that holds every
// value exactly, or whose reader refuses, by name, the value that does not fit;
// anything else is an *UnmappedError (reference §4.6).
func (t SQLServerType) Override(to Type) (SQLServerMapping, error) {
	mapped, err := t.Map()
	if err == nil && mapped.Type.String() == to.String() {
		return mapped, nil
	}
	isText := err == nil && mapped.Type.IsText()
	digits, isInteger := sqlServerDigits[t.Name]
	ok, fidelity := false, Compatible
	switch to.Kind {
	case Text:
		switch {
		case t.CLR():
			return SQLServerMapping{Type: to, Fidelity: LogicalString, TextForm: HexBytes}, nil
		case t.hasServerText():
			return SQLServerMapping{Type: to, Fidelity: LogicalString, TextForm: ServerText, ServerText: true}, nil
		}
	case JSON:
		if isText {
			return SQLServerMapping{Type: to, Fidelity: LogicalString}, nil
		}
	case Int16, Int32, Int64:
		ok = isInteger || t.Name == "bit"
	case Decimal:
		ok = err == nil && mapped.Type.Kind == Decimal || isInteger && to.Precision-to.Scale >= digits
	case Float64:
		ok = t.Name == "real"
	case Timestamp:
		same := err == nil && mapped.Type.Kind == Timestamp && mapped.Type.UTC == to.UTC
		ok = to.Nano && same
		if to.UTC {
			fidelity = Lossy // the offset
		}
	case UUID:
		ok = isText
	}
	if ok {
		return SQLServerMapping{Type: to, Fidelity: fidelity}, nil
	}
	why := "cannot be delivered as " + to.String() + " without changing values"
	if err != nil {
		return SQLServerMapping{}, t.unmapped(why)
	}
	return SQLServerMapping{}, &UnmappedError{Native: t.Native(), Why: why, Advice: "leave the override out for " + mapped.Type.String()}
}

// CLR reports whether values are objects of the server's .NET types, of which
// only the bytes are known.
func (t SQLServerType) CLR() bool {
	return t.Name == "hierarchyid" || t.Name == "geometry" || t.Name == "geography"
}

// hasServerText reports whether the server's text of a value is exactly the
// value. A sql_variant has none: its text does not say which type it was.
func (t SQLServerType) hasServerText() bool {
	switch t.Name {
	case "xml", "decimal", "numeric", "time", "datetime2", "datetimeoffset":
		return true
	case "binary", "varbinary", "image", "timestamp":
		return false
	}
	m, ok := sqlServerTypes[t.Name]
	return ok && !m.Type.IsText()
}

func (t SQLServerType) unmapped(why string) error {
	advice := "use a query: that casts it to a type with a mapping or leaves it out"
	if t.CLR() {
		advice = "set it to text under columns: for its bytes in hex, or use a query: that calls a method of it, such as ToString()"
	} else if t.hasServerText() {
		advice = "set it to text under columns:"
	}
	return &UnmappedError{Native: t.Native(), Why: why, Advice: advice}
}
