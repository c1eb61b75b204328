package e2e

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// database is a database of a test's own.
type database struct {
	url  string
	conn *pgx.Conn
}

// newDatabase makes one on the default server, and drops it when the test ends.
func newDatabase(t *testing.T) *database {
	t.Helper()
	return newDatabaseOn(t, testenv.PostgresURL)
}

// newDatabaseOn makes one on the server that a variable of testenv names.
func newDatabaseOn(t *testing.T, variable string) *database {
	t.Helper()
	server := testenv.Server(t, variable)
	name := "e2e_" + strings.ToLower(rand.Text()[:12])
	admin := connect(t, server)
	if _, err := admin.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	d := &database{url: at.String()}
	t.Cleanup(func() {
		for _, sql := range []string{"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'", "DROP DATABASE " + name} {
			if _, err := admin.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close(context.Background())
	})
	d.conn = connect(t, d.url)
	return d
}

func connect(t *testing.T, at string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// exec runs statements.
func (d *database) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := d.conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// texts returns the only column of a query, as text.
func (d *database) texts(t *testing.T, sql string) []string {
	t.Helper()
	rows, err := d.conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	return all
}
