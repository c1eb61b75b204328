package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

type postgres struct {
	conn       *pgx.Conn
	url        string
	postmaster int // whose children serve connections
}

func connectPostgres(ctx context.Context, u url.URL) (engine, error) {
	admin, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return nil, err
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	var found bool
	if err := admin.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", database).Scan(&found); err != nil {
		return nil, err
	}
	if !found {
		if _, err := admin.Exec(ctx, "create database "+database); err != nil {
			return nil, err
		}
	}
	u.Path = "/" + database
	p := &postgres{url: u.String()}
	if p.conn, err = pgx.Connect(ctx, p.url); err != nil {
		return nil, err
	}
	if p.postmaster, err = parentOf(int(p.conn.PgConn().PID())); err != nil {
		p.close(ctx)
		return nil, err
	}
	return p, nil
}

func parentOf(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("the server's processes are not on this machine: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strconv.Atoi(strings.TrimSpace(text))
		}
	}
	return 0, fmt.Errorf("the server's process has no parent")
}

func (p *postgres) name() string   { return "postgres" }
func (p *postgres) at() string     { return p.url }
func (p *postgres) source() string { return "postgres" }
func (p *postgres) schema() string { return "public" }

func (p *postgres) close(ctx context.Context) { _ = p.conn.Close(context.WithoutCancel(ctx)) }

// make leaves the mark in the table's comment.
func (p *postgres) make(ctx context.Context, t table, statements, mark string) error {
	var same bool
	if err := p.conn.QueryRow(ctx, "select coalesce(obj_description(to_regclass($1)) = $2, false)", t.name, mark).Scan(&same); err != nil || same {
		return err
	}
	progress("making %d rows of %s", t.rows, t.name)
	for _, s := range []string{
		"drop table if exists " + t.name, statements,
		"alter table " + t.name + " set (autovacuum_enabled = false)", // it would be counted as the server's work
		"comment on table " + t.name + " is '" + mark + "'",
		"vacuum analyze " + t.name,
	} {
		if _, err := p.conn.PgConn().Exec(ctx, s).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) truth(ctx context.Context, t table) (w truth, err error) {
	err = p.conn.QueryRow(ctx, fmt.Sprintf("select count(*)::text, sum(%s)::text from %s", t.key, t.name)).Scan(&w.rows, &w.sum)
	return w, err
}

func (p *postgres) version(ctx context.Context) string {
	version := "unknown"
	if err := p.conn.QueryRow(ctx, "show server_version").Scan(&version); err != nil {
		version = "unknown"
	}
	return "PostgreSQL " + version
}

func (p *postgres) cpu(ctx context.Context) (time.Duration, error) {
	for others := 1; others > 0; {
		err := p.conn.QueryRow(ctx, "select count(*) from pg_sleep(0.1), pg_stat_activity where backend_type in ('client backend', 'parallel worker') and pid <> pg_backend_pid()").Scan(&others)
		if err != nil {
			return 0, err
		}
	}
	return cpuOf(p.postmaster, 13)
}

// postgresFloor reads a table by COPY and throws it away: what no client can do
// without. It returns the bytes that came.
func postgresFloor(ctx context.Context, at, table string) (int64, error) {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var n counter
	_, err = conn.PgConn().CopyTo(ctx, &n, "copy (select * from "+table+") to stdout (format binary)")
	return int64(n), err
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
