package mysql

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Values are decoded as text where the type table says text, and as what they
// are everywhere else.
func TestTheFormsAreThoseOfTheTypeTable(t *testing.T) {
	for _, r := range rowtype.MySQLTable {
		c := column{Column: rowtype.Column{Type: r.Type}, mysql: r.Of.(rowtype.MySQLType)}
		if f := formOf(c); r.Type.Kind != "" && r.Type.IsText() != (f == formText) {
			t.Errorf("%s is delivered as %s, and decoded by form %d", r.Of.Native(), r.Type, f)
		}
	}
}
