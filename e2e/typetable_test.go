package e2e

import (
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

// own are the native names whose parameters have a row of their own.
var own = regexp.MustCompile(`^(tinyint\(1\)|bit\(1\)|numeric\(5,-2\)|(time|datetime2)\(7\))$`)

// plain is a native name without what makes no row of its own.
func plain(native string) string {
	native, _, _ = strings.Cut(native, " character set")
	native = strings.TrimSuffix(native, " null")
	if own.MatchString(native) {
		return native
	}
	open, end := strings.Index(native, "("), strings.LastIndex(native, ")")
	if open < 0 || end < open {
		return native
	}
	return native[:open] + native[end+1:]
}

// covered fails for each row of a type table that no column of the matrix
// stands for. Types that no override delivers have none.
func covered(t *testing.T, table rowtype.Table, columns []column) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range columns {
		row := c.row
		if row == "" {
			row = c.native
		}
		name := plain(row)
		if c.override != "" {
			name += " as " + c.override
			seen[plain(row)+" by an override"] = true
		}
		seen[name] = true
	}
	for _, r := range table {
		name := plain(r.Of.Native())
		if r.Type.Kind == "" {
			if _, err := r.Of.Override(rowtype.Type{Kind: rowtype.Text}); err != nil || notInsertable[name] {
				continue
			}
			name += " by an override"
		}
		if !seen[name] {
			t.Errorf("the type table has %s, and no column of the matrix does", name)
		}
	}
}

// notInsertable are types whose values nobody can make.
var notInsertable = map[string]bool{"pg_node_tree": true}

// madeOver are types that no client has made for years, which the stand-in for
// MongoDB stores as others; the tests of package extjson have them.
var madeOver = map[bson.Type]bool{bson.TypeUndefined: true, bson.TypeDBPointer: true, bson.TypeSymbol: true}

// What the matrices of values read back is every row of the type tables.
func TestTheMatricesHaveEveryRowOfTheTypeTables(t *testing.T) {
	postgres := everyType
	for _, x := range textTypes {
		postgres = append(postgres, column{native: x.native, row: x.row, override: "text"})
	}
	var mysql, sqlServer []column
	for _, c := range mysqlTypes {
		mysql = append(mysql, c.column)
	}
	for _, c := range sqlServerTypes {
		sqlServer = append(sqlServer, c.column)
	}
	for name, of := range map[string]struct {
		table   rowtype.Table
		columns []column
	}{
		"PostgreSQL": {rowtype.PostgresTable, postgres}, "MySQL": {rowtype.MySQLTable, mysql}, "SQL Server": {rowtype.SQLServerTable, sqlServer},
	} {
		t.Run(name, func(t *testing.T) { covered(t, of.table, of.columns) })
	}
	t.Run("MongoDB", func(t *testing.T) {
		seen := map[bson.Type]bool{}
		documents, _ := mongoDocuments(400)
		for _, d := range documents {
			body, err := bson.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			values, err := bson.Raw(body).Values()
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				seen[v.Type] = true
			}
		}
		for _, k := range extjson.Kinds {
			if !seen[k.Type] && !madeOver[k.Type] {
				t.Errorf("no document holds a value of type %s", k.Name)
			}
		}
	})
}
