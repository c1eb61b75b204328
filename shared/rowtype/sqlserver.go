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

func (t SQLServerType) row() string {
	if t.Scale > 6 && (t.Name == "time" || t.Name == "datetime2") {
		return t.Name + "(7)"
	}
	return t.Name
}

// Map implements [SourceType].
func (t SQLServerType) Map() (Mapping, error) {
	m, ok := SQLServerTable.mapping(t)
	if !ok {
		return m, t.unmapped("has no mapping")
	}
	if t.Name == "decimal" || t.Name == "numeric" {
		return m.declared(t, t.Precision, t.Scale, 38)
	}
	return m, nil
}

// Override implements [SourceType].
func (t SQLServerType) Override(to Type) (Mapping, error) {
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
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: HexBytes}, nil
		case t.hasServerText():
			return Mapping{Type: to, Fidelity: LogicalString, TextForm: ServerText, ServerText: true}, nil
		}
	case JSON:
		if isText {
			return Mapping{Type: to, Fidelity: LogicalString}, nil
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
		return Mapping{Type: to, Fidelity: fidelity}, nil
	}
	return Mapping{}, changed(t, to, mapped, err)
}

// CLR reports whether values are objects of the server's .NET types, of which
// only the bytes are known.
func (t SQLServerType) CLR() bool {
	return t.Name == "hierarchyid" || t.Name == "geometry" || t.Name == "geography"
}

// hasServerText reports whether the server's text of a value is exactly the
// value. A sql_variant has none: its text does not say which type it was.
func (t SQLServerType) hasServerText() bool {
	r, _ := SQLServerTable.RowOf(t)
	kind := r.Type.Kind
	return t.Name == "xml" || kind != "" && kind != Text && kind != Binary
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
