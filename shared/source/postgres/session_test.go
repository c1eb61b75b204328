package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// Failed connections say who could not be reached and why, and nothing more
// (SEC-01).
func TestFailedConnections(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		name, host, userinfo, database string
		class                          fault.Class
		code                           fault.Code
	}{
		{"a wrong password", s.Address(), "postgres:" + password, "/postgres", fault.Permanent, failure.Auth},
		{"no such database", s.Address(), s.url.User.String(), "/not_there", fault.Permanent, failure.Database},
		{"nobody listens", "127.0.0.1:1", "postgres:" + password, "/postgres", fault.Retryable, failure.Unreachable},
		{"no such host", "localhost.invalid:1", "postgres:" + password, "/postgres", fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw := "postgres://" + tc.userinfo + "@" + tc.host + tc.database
			_, err := Open(t.Context(), exportconfig.Source{Inline: exportconfig.InlineSecret{URL: raw}}, nil)
			if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code {
				t.Fatalf("%v; want %s, %s", err, tc.class, tc.code)
			}
			if strings.Contains(err.Error(), password) || !strings.Contains(err.Error(), strings.Split(tc.host, ":")[0]) {
				t.Fatal(err)
			}
		})
	}
}

// A password that was rotated since it was read is read once more (SEC-08).
func TestRotatedPassword(t *testing.T) {
	s := newServer(t)
	asked := 0
	resolve := func(context.Context, string) (string, error) {
		asked++
		u := *s.url
		u.RawQuery = ""
		if asked == 1 {
			return "postgres://postgres:" + password + "@" + s.Address() + "/postgres", nil
		}
		return u.String(), nil
	}
	src, err := Open(t.Context(), exportconfig.Source{URLRef: "env://URL"}, resolve)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close(t.Context())
	asked = 100
	wrong := func(context.Context, string) (string, error) {
		asked++
		return "postgres://postgres:" + password + "@" + s.Address() + "/postgres", nil
	}
	if _, err := Open(t.Context(), exportconfig.Source{URLRef: "env://URL"}, wrong); fault.CodeOf(err) != failure.Auth || asked != 102 {
		t.Fatalf("asked %d times: %v", asked-100, err)
	}
}

// A connection that died while nothing was asked of it is replaced (OPS-05).
func TestDeadConnectionIsReplaced(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	for range 2 {
		s.exec(t, "select pg_terminate_backend("+itoa(src.session.conn.PID())+")")
		if _, err := src.Identity(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A caller whose time is over leaves no transaction behind.
func TestTransactionEndsAfterItsContext(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := src.session.transaction(ctx, "test", func() error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || !fault.Retry(err) {
		t.Fatal(err)
	}
	if status := src.session.conn.TxStatus(); !src.session.conn.IsClosed() && status != 'I' {
		t.Fatalf("the connection is left in state %c", status)
	}
}

// What is set, is set for the transaction only, so that a pooled connection is
// given back as it was (OPS-08), and nothing stays prepared (OPS-07).
func TestSessionIsLeftAsItWas(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table t (a int primary key)")
	src := s.source(t)
	settings := func() string {
		rows, err := src.session.query(t.Context(), "select string_agg(name || '=' || setting, ',' order by name) from pg_settings where name <> 'application_name'")
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := src.session.query(t.Context(), "select count(*) from pg_prepared_statements where name <> ''")
		if err != nil || prepared[0].text(0) != "0" {
			t.Fatalf("%v, %v", prepared, err)
		}
		return rows[0].text(0)
	}
	before := settings()
	src.session.cfg.StatementTimeoutSeconds, src.session.cfg.LockTimeoutSeconds = 7, 8
	if _, err := export(t, src, s.table("t")); err != nil {
		t.Fatal(err)
	}
	if after := settings(); after != before {
		t.Fatalf("before %s\nafter %s", before, after)
	}
}

// The values do not depend on what the user's sessions are set to (PLN-23,
// CUR-12, OPS-14).
func TestHostileSettings(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create type pair as (at timestamptz[], b bytea, i interval, f float4); create table t (z timestamptz primary key, f float8, b bytea, i interval, y timestamptz, x text, r tstzrange, p pair, m money);
		insert into t select '2024-01-01 00:00:00+00'::timestamptz + g * interval '7 hours', 0.1::float8 + 0.2::float8, '\x00ff', '1 mon -1 day', '2024-01-01 12:00:00+00', 'a\b', '[2024-01-02 01:00+01,)', row('{2024-02-01 00:00+00}'::timestamptz[], '\xff'::bytea, interval '1 day', 0.1::float4)::pair, 1234.5::numeric::money from generate_series(1, 100) g`)
	plain := s.source(t)
	hostile := s.reader(t, "select on t")
	name := "reader_of_" + s.schema
	for _, set := range []string{"timezone = 'Asia/Kathmandu'", "datestyle = 'German'", "intervalstyle = 'sql_standard'", "extra_float_digits = -15",
		"bytea_output = 'escape'", "standard_conforming_strings = off", "default_transaction_isolation = 'serializable'", "quote_all_identifiers = on"} {
		if strings.HasPrefix(set, "standard") && s.major(t) >= 19 {
			continue
		}
		s.exec(t, "alter role "+name+" set "+set)
	}
	hostile.session.close(t.Context()) // the settings come with a new connection
	rel := s.table("t")
	rel.Overrides = map[string]string{"f": "text", "b": "text", "i": "text", "y": "text", "r": "text", "p": "text", "m": "text"}
	var both [2][]string
	for i, src := range []*Source{plain, hostile} {
		table, err := src.Describe(t.Context(), rel)
		if err != nil {
			t.Fatal(err)
		}
		spec := source.ReadSpec{Relation: rel, Columns: table.Columns, Key: table.Keys[0].Columns, Ordered: true, Unique: true}
		cuts := 0
		both[i] = collect(t, src, withRange(spec, keyspace.Range{}), true, &cuts)
		if cuts < 40 {
			t.Errorf("cut %d times", cuts)
		}
	}
	if strings.Join(both[0], "\n") != strings.Join(both[1], "\n") || len(both[0]) != 100 {
		t.Fatalf("%d and %d rows\n%q\n%q", len(both[0]), len(both[1]), both[0][0], both[1][0])
	}
	if !strings.HasSuffix(both[1][0], `|0.30000000000000004|\x00ff|P1M-1D|2024-01-01 12:00:00+00|a\b|["2024-01-02 00:00:00+00",)|("{""2024-02-01 00:00:00+00""}","\\xff",P1D,0.1)|1234.50`) {
		t.Fatal(both[1][0])
	}
}

// readAll reads with a spec and returns how many rows came and how it ended.
func readAll(t *testing.T, src *Source, spec source.ReadSpec) (rows int, err error) {
	t.Helper()
	r, err := src.Read(t.Context(), spec)
	if err != nil {
		return 0, err
	}
	defer r.Close(t.Context())
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			return rows, err
		}
		rows += b.Rows
	}
}

func wholeOf(t *testing.T, src *Source, rel source.Relation) source.ReadSpec {
	t.Helper()
	table, err := src.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	return source.ReadSpec{Relation: rel, Columns: table.Columns, Range: keyspace.Range{All: true}}
}

func TestTimeouts(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table t (a int); insert into t values (1)")
	src := s.source(t)
	slow := wholeOf(t, src, source.Relation{Query: "select 1 as a from pg_sleep(case when pg_backend_pid() > 0 then 30 end)"})
	plain := wholeOf(t, src, s.table("t"))
	src.session.cfg.StatementTimeoutSeconds = 1
	if _, err := readAll(t, src, slow); fault.CodeOf(err) != failure.Timeout || fault.Retry(err) || !strings.Contains(err.Error(), "smaller chunks") {
		t.Fatal(err)
	}
	src.session.cfg.StatementTimeoutSeconds, src.session.cfg.LockTimeoutSeconds = 0, 1
	s.exec(t, "begin; lock table t in access exclusive mode")
	_, err := readAll(t, src, plain)
	s.exec(t, "rollback")
	if fault.CodeOf(err) != failure.LockTimeout || !fault.Retry(err) {
		t.Fatal(err)
	}
	if rows, err := readAll(t, src, plain); rows != 1 || err != io.EOF {
		t.Fatalf("afterwards: %d rows, %v", rows, err)
	}
}

// A backend that ends in mid-stream ends the read, which may be tried again.
func TestTerminatedBackend(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	spec := wholeOf(t, src, source.Relation{Query: "select g, repeat('x', 1000) as v from generate_series(1, 100000) g"})
	spec.BatchRows = 10
	r, err := src.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "select pg_terminate_backend("+itoa(src.session.conn.PID())+")")
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if fault.CodeOf(err) != failure.Unreachable || !fault.Retry(err) {
		t.Fatal(err)
	}
}

func TestPositionAndIdentity(t *testing.T) { // OPS-11
	s := newServer(t)
	src := s.source(t)
	r, err := src.Read(t.Context(), wholeOf(t, src, source.Relation{Query: "select 1 as a"}))
	if err != nil || !strings.HasPrefix(r.Position(), "lsn ") || !strings.Contains(r.Position(), " timeline 1") {
		t.Fatalf("%q, %v", r.Position(), err)
	}
	if _, err := src.Identity(t.Context()); fault.ClassOf(err) != fault.Bug {
		t.Fatalf("a call while a reader is open: %v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, err := src.Identity(t.Context())
	if err != nil || id.Engine != "postgres" || id.Database != "postgres" || len(id.SystemIdentifier) < 10 {
		t.Fatalf("%+v, %v", id, err)
	}
	s.exec(t, "create function pg_temp.f() returns void language sql as ''")
	limited := s.reader(t)
	s.exec(t, "revoke execute on function pg_control_system(), pg_current_wal_insert_lsn() from public")
	s.finally("grant execute on function pg_control_system(), pg_current_wal_insert_lsn(), pg_current_wal_lsn() to public")
	r, err = limited.Read(t.Context(), wholeOf(t, limited, source.Relation{Query: "select 1 as a"}))
	if err != nil || !strings.HasPrefix(r.Position(), "lsn ") {
		t.Fatalf("where it has written, but not where it inserts: %v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "revoke execute on function pg_current_wal_lsn() from public")
	if id, err := limited.Identity(t.Context()); err != nil || id.SystemIdentifier != "" || id.Database != "postgres" {
		t.Fatalf("without the right to know: %+v, %v", id, err)
	}
	r, err = limited.Read(t.Context(), wholeOf(t, limited, source.Relation{Query: "select 1 as a"}))
	if err != nil || r.Position() != "" {
		t.Fatalf("without the right to know: %v", err)
	}
	_ = r.Close(t.Context())
}

// A database of encoding SQL_ASCII may hold any bytes as text (TPG-21).
func TestBrokenUTF8(t *testing.T) {
	s := newServer(t)
	name := "ascii_" + s.schema
	if _, err := s.admin.Exec(t.Context(), "create database "+name+" encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0").ReadAll(); err != nil {
		t.Fatal(err)
	}
	s.finally("drop database " + name)
	ascii := *s
	u := *s.url
	u.Path = "/" + name
	ascii.url = &u
	src := ascii.open(t, s.Address(), "")
	defer src.Close(context.WithoutCancel(t.Context()))
	if err := src.session.exec(t.Context(), `create table t (id int, v text); insert into t values (1, 'plain'), (2, convert_from('\x61e9', 'SQL_ASCII'))`); err != nil {
		t.Fatal(err)
	}
	_, err := export(t, src, source.Relation{Schema: "public", Name: "t"})
	sourcetest.WantRefusal(t, err, fault.Refused, failure.Value, `"t"`, `"v"`, "row 2", "UTF-8")
}

// A row of many large values is refused before it is in memory.
func TestRowOfManyLargeValues(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	query := "select g"
	for i := range 8 {
		query += ", repeat('x', 90000) as c" + itoa(uint32(i))
	}
	spec := wholeOf(t, src, source.Relation{Query: query + " from generate_series(1, 2) g"})
	spec.MaxValueBytes = 100000
	_, err := readAll(t, src, spec)
	sourcetest.WantRefusal(t, err, fault.Refused, failure.TooLarge, "max_value_mb")
	spec.MaxValueBytes = 200000
	if rows, err := readAll(t, src, spec); rows != 2 || err != io.EOF {
		t.Fatalf("%d rows, %v", rows, err)
	}
}

// Nothing runs on after a source is closed, however its reader ended.
func TestNothingRunsOn(t *testing.T) {
	s := newServer(t)
	for _, leave := range []func(*Source, source.Reader){
		func(*Source, source.Reader) {},
		func(_ *Source, r source.Reader) { _, _ = r.Next(t.Context()) },
		func(_ *Source, r source.Reader) { _ = r.Close(t.Context()) },
		func(_ *Source, r source.Reader) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for err := error(nil); err == nil; {
				_, err = r.Next(ctx)
			}
		},
	} {
		src := s.open(t, s.Address(), "")
		spec := wholeOf(t, src, source.Relation{Query: "select g from generate_series(1, 1000000) g"})
		spec.BatchRows = 10
		r, err := src.Read(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		leave(src, r)
		if err := src.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for try := 1; ; try++ {
			running, stacks := stillRunning()
			if running == "" {
				break
			}
			if try == 200 {
				t.Fatalf("%s runs on:\n%s", running, stacks)
			}
			runtime.Gosched() // it has done its work and is being taken down
		}
	}
}

// stillRunning names a goroutine of a source that has not ended.
func stillRunning() (string, []byte) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, running := range []string{"(*reader)", "asyncClose"} {
		if bytes.Contains(stacks, []byte(running)) {
			return running, stacks
		}
	}
	return "", stacks
}

// Intervals are spelled as the server spells them.
func TestIntervalsAreTheServers(t *testing.T) {
	s := newServer(t)
	b, err := export(t, s.source(t), source.Relation{Query: `select v, v::text as t from (values
		('-1 year -2 mons +3 days -04:05:06.007'::interval), ('1 year -1 mon'), ('-0.000001 s'), ('-1.5 hours'), ('178000000 years'), ('-178000000 years'),
		('2147483647 days'), ('-2147483648 days'), ('2000000000:00:54.775807'), ('-2000000000:00:54.775807'), ('13 mons 1 us'), ('00:00:59.9'), ('100 hours')) as x(v)`})
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Rows {
		if got, want := cellText(b, 0, i), cellText(b, 1, i); got != want {
			t.Errorf("%s, the server says %s", got, want)
		}
	}
	if b.Rows != 13 || b.Columns[0].Type.Kind != rowtype.Interval {
		t.Fatalf("%d rows of %s", b.Rows, b.Columns[0].Type)
	}
}

// OPS-06: a server that has no place for another connection says so by the code
// for which a worker waits.
func TestAServerWithoutAPlace(t *testing.T) {
	s := newServer(t)
	role := "crowded_" + s.schema
	s.exec(t, "create role "+role+" login password '"+password+"' connection limit 1")
	s.finally("drop role " + role)
	held := s.openAs(t, role, password)
	u := *s.url
	u.User = url.UserPassword(role, password)
	crowded := exportconfig.Source{Inline: exportconfig.InlineSecret{URL: u.String()}}
	if _, err := Open(t.Context(), crowded, nil); fault.CodeOf(err) != source.CodeOverloaded || !fault.Retry(err) || strings.Contains(err.Error(), password) {
		t.Fatal(err)
	}
	_ = held.Close(t.Context())
}
