package main

import (
	"context"
	"embed"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// table is one of the tables that are exported.
type table struct {
	name string
	rows int64
	key  string // a number whose sum is compared with that of the output
}

// tables have the sizes of a scale of 1.
var tables = []table{
	{name: "lineitem", rows: 6_000_000, key: "l_orderkey"},
	{name: "events", rows: 300_000, key: "id"},
	{name: "narrow", rows: 10_000_000, key: "id"},
}

//go:embed tables/*.sql
var definitions embed.FS

const database = "bench"

// inBench is the URL of the database that has the tables.
func inBench(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("-url is not a URL")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// prepare makes what is missing of the tables, and returns the URL of their
// database. A table of the right number of rows, made by the same statements,
// is kept.
func prepare(ctx context.Context, server string, wanted []table) (string, error) {
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	var found bool
	if err := admin.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", database).Scan(&found); err != nil {
		return "", err
	}
	if !found {
		if _, err := admin.Exec(ctx, "create database "+database); err != nil {
			return "", err
		}
	}
	at, err := inBench(server)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, t := range wanted {
		if err := t.make(ctx, conn); err != nil {
			return "", fmt.Errorf("make table %s: %w", t.name, err)
		}
	}
	return at, nil
}

// make leaves the statements in the table's comment, by which they are known
// again.
func (t table) make(ctx context.Context, conn *pgx.Conn) error {
	body, err := definitions.ReadFile("tables/" + t.name + ".sql")
	if err != nil {
		return err
	}
	statements := strings.ReplaceAll(string(body), "{rows}", fmt.Sprint(t.rows))
	var same bool
	if err := conn.QueryRow(ctx, "select coalesce(obj_description(to_regclass($1)) = md5($2), false)", t.name, statements).Scan(&same); err != nil || same {
		return err
	}
	progress("making %d rows of %s", t.rows, t.name)
	for _, s := range []string{
		"drop table if exists " + t.name, statements,
		"alter table " + t.name + " set (autovacuum_enabled = false)", // it would be counted as the server's work
		"comment on table " + t.name + " is " + quoted(ctx, conn, statements),
		"vacuum analyze " + t.name,
	} {
		if _, err := conn.PgConn().Exec(ctx, s).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// quoted is the checksum of the statements as a literal.
func quoted(ctx context.Context, conn *pgx.Conn, statements string) string {
	var sum string
	if err := conn.QueryRow(ctx, "select quote_literal(md5($1))", statements).Scan(&sum); err != nil {
		return "''" // made again next time
	}
	return sum
}

// truth is what an output has to have.
type truth struct{ rows, sum string }

func (t table) truth(ctx context.Context, at string) (truth, error) {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return truth{}, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var w truth
	err = conn.QueryRow(ctx, fmt.Sprintf("select count(*)::text, sum(%s)::text from %s", t.key, t.name)).Scan(&w.rows, &w.sum)
	return w, err
}
