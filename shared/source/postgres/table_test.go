package postgres

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// A type that is delivered as something else than text has a layout of its own,
// and a layout is that of a type that is delivered.
func TestTheLayoutsAreThoseOfTheTypeTable(t *testing.T) {
	for _, r := range rowtype.PostgresTable {
		of := r.Of.(rowtype.PostgresType)
		if w := wireOf(of, "", r.Type); r.Type.Kind != "" && !r.Type.IsText() && w == wireText {
			t.Errorf("%s is delivered as %s, and is decoded as text", of.Name, r.Type)
		}
	}
	for name := range wires {
		r, ok := rowtype.PostgresTable.RowOf(rowtype.PostgresType{Name: name, BuiltIn: true, Class: 'b', Modifier: 18<<16 + 4})
		if !ok || r.Type.Kind == "" {
			t.Errorf("%s has a layout, and no row that says what it is delivered as", name)
		}
	}
}

// Every type that the server is made with has a row of its own or one of its
// kind.
func TestTheTypeTableHasEveryTypeOfTheServer(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	answer, err := src.session.query(t.Context(), `select t.typname, t.typtype from pg_catalog.pg_type t
		where t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace and t.typtype <> 'p'
		  and not exists (select from pg_catalog.pg_type e where e.typarray = t.oid)`)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) < 80 {
		t.Fatalf("%d types: the test no longer tests anything", len(answer))
	}
	for _, row := range answer {
		of := rowtype.PostgresType{Name: row.text(0), BuiltIn: true, Class: row.text(1)[0], Modifier: -1}
		if _, ok := rowtype.PostgresTable.RowOf(of); !ok {
			t.Errorf("%s, of class %c, has no row", of.Name, of.Class)
		}
	}
}
