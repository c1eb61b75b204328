package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// retyped is the table changes of a server, with the rows 1 to n at the cursor
// value 7, whose types can be changed.
type retyped struct {
	url, source string // the value of DATABASE_URL, and the type of the source
	table       string
	add         func(t *testing.T, id int)   // inserts a row at 7
	retype      func(t *testing.T, c string) // makes the column c one of the type that is asked for
}

// retypedPostgres has the table with a key and a cursor of these types, whose
// value for a number is written as a conversion of it.
func retypedPostgres(t *testing.T, key, cursor, to string) retyped {
	db := newDatabase(t)
	value := "7"
	if strings.HasPrefix(cursor, "timestamp") {
		value = "timestamp '2026-01-01 00:00:07'"
	}
	db.exec(t, fmt.Sprintf("CREATE TABLE changes (id %s PRIMARY KEY, version integer NOT NULL DEFAULT 1, c %s)", key, cursor))
	return retyped{
		url: db.url, source: "postgres", table: "public.changes",
		add: func(t *testing.T, id int) {
			db.exec(t, fmt.Sprintf("INSERT INTO changes SELECT '%d', 1, (SELECT c FROM changes LIMIT 1) WHERE EXISTS (SELECT FROM changes)", id))
			db.exec(t, fmt.Sprintf("INSERT INTO changes SELECT '%d', 1, %s WHERE NOT EXISTS (SELECT FROM changes)", id, value))
		},
		retype: func(t *testing.T, c string) { db.exec(t, fmt.Sprintf("ALTER TABLE changes ALTER %s TYPE %s", c, to)) },
	}
}

func retypedMariaDB(t *testing.T, key, cursor, to string) retyped {
	at, db := mysqlDatabase(t, testenv.MariaDBURL)
	exec := func(t *testing.T, statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
	}
	value := "7"
	if cursor == "datetime" {
		value = "'2026-01-01 00:00:07'"
	}
	exec(t, fmt.Sprintf("create table changes (id %s primary key, version int not null default 1, c %s null)", key, cursor))
	return retyped{
		url: at, source: "mysql", table: "changes",
		add: func(t *testing.T, id int) {
			exec(t, fmt.Sprintf("insert into changes values ('%d', 1, %s)", id, value))
		},
		retype: func(t *testing.T, c string) { exec(t, fmt.Sprintf("alter table changes modify %s %s", c, to)) },
	}
}

// retypedSQLServer has the table on the stand-in: no SQL Server was met. Its
// types are changed by making it again.
func retypedSQLServer(t *testing.T, key, cursor, to string) retyped {
	d := &standin.Database{Name: "shop", Snapshot: true}
	ids := 0
	typed := func(name string) tdsfake.Type {
		if name == "nvarchar" {
			return tdsfake.Type{Name: name, Length: 50}
		}
		return tdsfake.Type{Name: name}
	}
	create := func() {
		d.Create("dbo", "changes", []standin.Column{{Name: "id", Type: typed(key), NotNull: true}, {Name: "version", Type: typed("int"), NotNull: true}, {Name: "c", Type: typed(cursor)}}, "id")
	}
	insert := func(id int) {
		row := []any{int64(id), int64(1), int64(7)}
		if key == "nvarchar" {
			row[0] = fmt.Sprint(id)
		}
		d.Insert("dbo", "changes", row)
	}
	create()
	s, err := standin.Serve(d, tdsfake.Options{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return retyped{
		url: "sqlserver://sa:secret@" + s.Address() + "/shop", source: "mssql", table: "dbo.changes",
		add: func(_ *testing.T, id int) { ids = id; insert(id) },
		retype: func(_ *testing.T, c string) {
			if c == "id" {
				key = to
			} else {
				cursor = to
			}
			create()
			for id := range ids {
				insert(id + 1)
			}
		},
	}
}

func (r retyped) desk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	d.env["DATABASE_URL"] = r.url
	d.write(t, "rivet.yaml", fmt.Sprintf("source: { type: %s, url_env: DATABASE_URL }\nexports:\n  - { name: changes, table: %s, mode: incremental, cursor_column: c, format: csv, destination: { type: local, path: out } }\n", r.source, r.table))
	return d
}

// Delivered keys of another type tell nothing of the rows at the position: these
// come again once, with a warning, and none is lost. Where a key keeps its text,
// nothing comes again (CUR-03).
func TestAKeyWhoseTypeChanges(t *testing.T) {
	for _, tc := range []struct {
		make          func(t *testing.T, key, cursor, to string) retyped
		name, key, to string
		again         bool
	}{
		{retypedPostgres, "PostgreSQL", "varchar(10)", "integer USING id::integer", true},
		{retypedPostgres, "PostgreSQL", "integer", "text", true},
		{retypedPostgres, "PostgreSQL", "integer", "numeric(20,0)", true},
		{retypedPostgres, "PostgreSQL", "integer", "bigint", false},
		{retypedPostgres, "PostgreSQL", "bigint", "integer", false},
		{retypedPostgres, "PostgreSQL", "varchar(10)", "varchar(50)", false},
		{retypedMariaDB, "MariaDB", "varchar(10)", "int", true},
		{retypedMariaDB, "MariaDB", "int", "varchar(10)", true},
		{retypedMariaDB, "MariaDB", "int", "bigint unsigned", false},
		{retypedMariaDB, "MariaDB", "varchar(10)", "varchar(50)", false},
		{retypedSQLServer, "SQL Server", "nvarchar", "int", true},
		{retypedSQLServer, "SQL Server", "int", "nvarchar", true},
		{retypedSQLServer, "SQL Server", "int", "bigint", false},
	} {
		t.Run(tc.name+", "+tc.key+" to "+tc.to, func(t *testing.T) {
			r := tc.make(t, tc.key, "int", tc.to)
			d := r.desk(t)
			r.add(t, 1)
			r.add(t, 2)
			d.must(t, "run")
			r.retype(t, "id")
			r.add(t, 3)
			o := d.must(t, "run")
			if got := strings.Contains(o.String(), "CURSOR_KEY_CHANGED"); got != tc.again {
				t.Errorf("it is said that rows come again: %t, want %t: %s", got, tc.again, o)
			}
			r.add(t, 4)
			if o := d.must(t, "run"); strings.Contains(o.String(), "CURSOR_KEY_CHANGED") {
				t.Errorf("rows come again more than once: %s", o)
			}
			rows, _ := delivered(t, filepath.Join(d.dir, "out"))
			times := 0
			for _, n := range rows {
				times += n
			}
			if want := map[bool]int{false: 4, true: 6}[tc.again]; len(rows) != 4 || times != want {
				t.Errorf("%d rows come %d times together, want 4 and %d: %v", len(rows), times, want, rows)
			}
			d.must(t, "prove")
		})
	}
}

// The value of one type is not that of another: another type of the cursor is
// refused before anything is read (CUR-07).
func TestACursorWhoseTypeChanges(t *testing.T) {
	for _, tc := range []struct {
		make             func(t *testing.T, key, cursor, to string) retyped
		name, cursor, to string
	}{
		{retypedPostgres, "PostgreSQL", "timestamp", "timestamptz"},
		{retypedPostgres, "PostgreSQL", "integer", "timestamp USING timestamp 'epoch' + c * interval '1 second'"},
		{retypedPostgres, "PostgreSQL", "integer", "text"},
		{retypedPostgres, "PostgreSQL", "integer", "boolean USING c > 0"},
		{retypedMariaDB, "MariaDB", "datetime", "timestamp"},
		{retypedMariaDB, "MariaDB", "int", "varchar(20)"},
		{retypedSQLServer, "SQL Server", "int", "bigint"},
	} {
		t.Run(tc.name+", "+tc.cursor+" to "+tc.to, func(t *testing.T) {
			r := tc.make(t, "int", tc.cursor, tc.to)
			d := r.desk(t)
			r.add(t, 1)
			d.must(t, "run")
			r.retype(t, "c")
			o := d.run(t, "run")
			if o.code == 0 || !strings.Contains(o.stderr, "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED") && !strings.Contains(o.stderr, "LAPSTRAKE_PLAN_KEY_TYPE") || !strings.Contains(o.stderr, "nothing was read") {
				t.Errorf("not refused by name: %s", o)
			}
			if rows, _ := delivered(t, filepath.Join(d.dir, "out")); len(rows) != 1 {
				t.Errorf("%v is delivered", rows)
			}
		})
	}
}
