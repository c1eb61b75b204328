package rowtype

import "fmt"

// SourceType is a type of a source as its catalog has it.
type SourceType interface {
	// Native is what Column.Native says.
	Native() string

	// Map returns how the type is delivered without an override, or an
	// *UnmappedError.
	Map() (Mapping, error)

	// Override returns how the type is delivered as another one that holds every
	// value exactly, or whose reader refuses, by name, the value that does not
	// fit; anything else is an *UnmappedError (reference §4.6).
	Override(to Type) (Mapping, error)

	// row names the type's row in the table of its source.
	row() string

	// unmapped is an *UnmappedError with the overrides that work.
	unmapped(why string) error
}

// Mapping is how the values of a SourceType are delivered.
type Mapping struct {
	Type     Type
	Fidelity string
	TextForm string
	// ServerText is true when the server turns each value into text before it
	// sends it.
	ServerText bool
	// Casts are the PostgreSQL types that the server turns each value into, one
	// after the other, before it sends it.
	Casts []string
}

// Resolve returns how a type is delivered with what a config says of its column
// under columns:, "" for nothing.
func Resolve(t SourceType, override string) (Mapping, error) {
	if override == "" {
		return t.Map()
	}
	to, err := ParseOverride(override)
	if err != nil {
		return Mapping{}, err
	}
	return t.Override(to)
}

// declared is the mapping of a decimal with the digits that it is declared with,
// at most most of them.
func (m Mapping) declared(t SourceType, precision, scale, most int) (Mapping, error) {
	if precision < 1 || precision > most || scale < 0 || scale > precision {
		return Mapping{}, t.unmapped("has no precision that can be delivered")
	}
	m.Type.Precision, m.Type.Scale = precision, scale
	return m, nil
}

// changed is the refusal to deliver a type as another one, which would change
// values. mapped and err are what the type's own Map returns.
func changed(t SourceType, to Type, mapped Mapping, err error) error {
	why := "cannot be delivered as " + to.String() + " without changing values"
	if err != nil {
		return t.unmapped(why)
	}
	return &UnmappedError{Native: t.Native(), Why: why, Advice: "leave the override out for " + mapped.Type.String()}
}

// UnmappedError says why a type cannot be delivered and what to write instead.
type UnmappedError struct {
	Native string
	Why    string
	Advice string
}

func (e *UnmappedError) Error() string { return fmt.Sprintf("%s %s: %s", e.Native, e.Why, e.Advice) }

// Row is one row of a Table.
type Row struct {
	// Of is a type of the row, with some parameters where it has any.
	Of SourceType
	// Declared is how a person writes the row's types, in Markdown; "" is as Of is
	// written.
	Declared string
	// Type is what the row's types are delivered as; without a Kind they are
	// refused, unless an override says otherwise. A decimal has the precision
	// and scale of the source's, a list the items.
	Type     Type
	Fidelity string
	// Refuses says which values are refused at the row.
	Refuses string
}

// Table is how the types of one source are delivered without an override. The
// source maps by it: what is in no row is refused.
type Table []Row

// RowOf returns the row of a type; ok is false if it has none.
func (t Table) RowOf(of SourceType) (r Row, ok bool) {
	name := of.row()
	for _, r := range t {
		if r.Of.row() == name {
			return r, true
		}
	}
	return Row{}, false
}

// mapping is how a type is delivered by its row, up to its parameters; ok is
// false where it is refused.
func (t Table) mapping(of SourceType) (m Mapping, ok bool) {
	r, _ := t.RowOf(of)
	return Mapping{Type: r.Type, Fidelity: r.Fidelity}, r.Type.Kind != ""
}
