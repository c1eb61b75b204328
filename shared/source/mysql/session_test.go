package mysql

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

const password = "S3cr3t"

// Failed connections say who could not be reached and why, and nothing more
// (SEC-01).
func TestFailedConnections(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		name, url string
		class     fault.Class
		code      fault.Code
	}{
		{"a wrong password", "mysql://root:" + password + "@" + s.Address() + "/mysql", fault.Permanent, failure.Auth},
		{"no such database", "mysql://" + s.url.User.String() + "@" + s.Address() + "/not_there", fault.Permanent, failure.Database},
		{"nobody listens", "mysql://root:" + password + "@127.0.0.1:1/mysql", fault.Retryable, failure.Unreachable},
		{"another machine without TLS", "mysql://root:" + password + "@db.example.com/mysql", fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED"},
		// A server either speaks no TLS or has a certificate that it signed itself.
		{"TLS that cannot be verified", "mysql://" + s.url.User.String() + "@" + s.Address() + "/mysql?ssl-mode=VERIFY_IDENTITY", fault.Permanent, failure.TLS},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Open(t.Context(), exportconfig.Source{Inline: exportconfig.InlineSecret{URL: tc.url}}, nil)
			if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code || strings.Contains(err.Error(), password) {
				t.Fatalf("%v; want %s, %s", err, tc.class, tc.code)
			}
		})
	}
}

// A password that was rotated since it was read is read once more (SEC-08).
func TestRotatedPassword(t *testing.T) {
	s := newServer(t)
	asked := 0
	src, err := Open(t.Context(), exportconfig.Source{URLRef: "env://URL"}, func(context.Context, string) (string, error) {
		if asked++; asked == 1 {
			return "mysql://root:" + password + "@" + s.Address() + "/mysql", nil
		}
		return s.url.String(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = src.Close(t.Context())
}

// A connection that died while nothing was asked of it is replaced (OPS-05).
func TestDeadConnectionIsReplaced(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	for range 2 {
		rows, err := src.session.query(t.Context(), "select connection_id()")
		if err != nil {
			t.Fatal(err)
		}
		s.exec(t, "kill "+rows[0].text(0))
		if _, err := src.Identity(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// What the server is set to changes no value and leaves no row out (TMY-07,
// TMY-12, OPS-14).
func TestSettingsOfTheServerChangeNothing(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table v (id int primary key, ts timestamp(6) null, c char(5), t varchar(20) not null, unique (t));
		insert into v values (1, '2024-03-31 01:30:00.5', 'ab', 'a\\b'), (2, null, '', 'it''s'), (3, '1970-01-01 00:00:01', null, 'é€😀')`)
	all := func() (rows []string) {
		b, err := export(t, s.source(t), s.table("v"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			var cells []string
			for c := range b.Columns {
				cells = append(cells, printed(&b.Columns[c], i))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return rows
	}
	want := all()
	for _, setting := range []struct{ name, hostile string }{
		{"time_zone", "'+05:30'"}, {"sql_mode", "'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,IGNORE_SPACE'"},
		{"sql_select_limit", "1"}, {"character_set_results", "latin1"}, {"character_set_client", "latin1"}, {"autocommit", "0"}, {"max_sort_length", "8"},
		{"transaction_isolation", "'READ-UNCOMMITTED'"},
	} {
		t.Run(setting.name, func(t *testing.T) {
			name := setting.name
			if name == "transaction_isolation" {
				name = "tx_isolation"
			}
			var before string
			if err := s.admin.QueryRowContext(t.Context(), "select @@global."+name).Scan(&before); err != nil {
				t.Fatal(err)
			}
			s.exec(t, "set global "+name+" = "+setting.hostile)
			if strings.Trim(before, "0123456789") != "" || before == "" {
				before = "'" + before + "'"
			}
			defer s.exec(t, "set global "+name+" = "+before)
			if got := all(); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if want[0] != "1|1711848600500000|ab|a\\b" || want[2] != "3|1000000|∅|é€😀" || len(want) != 3 {
		t.Errorf("%q", want)
	}
}

// A table cannot be emptied or changed between the moment that its shape is
// looked at and the snapshot: whoever would do so waits.
func TestAReadHoldsTheShapeOfItsTable(t *testing.T) {
	s := newServer(t)
	for _, change := range []string{"truncate held", "alter table held add x int", "drop table held"} {
		t.Run(change, func(t *testing.T) {
			s.exec(t, "drop table if exists held; create table held (id int primary key); insert into held select seq from seq_1_to_1000")
			src := s.source(t)
			table, err := src.Describe(t.Context(), s.table("held"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, BatchRows: 1, Range: everyRow})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.exec(t, "set lock_wait_timeout = 1")
			if _, err := s.admin.ExecContext(t.Context(), change); err == nil || !strings.Contains(err.Error(), "1205") {
				t.Errorf("%s while the table is read: %v", change, err)
			}
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	s.exec(t, "set lock_wait_timeout = default")
}

// Rows that are committed while a task reads are not in it.
func TestATaskReadsOneSnapshot(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table snap (id int primary key, v int) engine = innodb; insert into snap select seq, 0 from seq_1_to_100000")
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("snap"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, BatchRows: 1, Range: everyRow})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.Position() == "" || !strings.HasPrefix(r.Position(), "gtid 0-") {
		t.Errorf("read at %q", r.Position())
	}
	s.exec(t, "update snap set v = 1; insert into snap values (100001, 1)")
	n := 1
	for {
		b, err := r.Next(t.Context())
		if err != nil {
			break
		}
		for i := range b.Rows {
			if n++; b.Columns[1].I32[i] != 0 {
				t.Fatalf("row %d is of another snapshot", n)
			}
		}
	}
	if n != 100000 {
		t.Errorf("%d rows", n)
	}
}

// What the user may not see is refused by name, never left out.
func TestColumnsThatTheUserMayNotRead(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table rights (id int primary key, secret int); insert into rights values (1, 2)")
	src := s.reader(t, "select (id) on "+quoted(s.database)+".rights")
	_, err := src.Describe(t.Context(), s.table("rights"))
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Permission, "rights", "every column")
	b, err := export(t, src, source.Relation{Query: "select id from rights # ;)"})
	if err != nil || b.Rows != 1 {
		t.Fatalf("%v", err)
	}
}

func TestURLs(t *testing.T) {
	for _, tc := range []struct{ name, url, want string }{
		{"a plain one", "mysql://u:p%40@h/d", "h:3306/d u p@  "},
		{"MariaDB's scheme, port and TLS", "mariadb://u@h:99/d?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem", "h:99/d u  verify-full /ca.pem"},
		{"a socket", "mysql://u@localhost/d?socket=/run/s", "/run/s d u   "},
		{"no database", "mysql://u:S3cr3t@h", "it names no database"},
		{"no user", "mysql://h/d", "it names no user"},
		{"another scheme", "postgres://u:S3cr3t@h/d", "its scheme is not mysql"},
		{"a parameter that is not known", "mysql://u:S3cr3t@h/d?allowAllFiles=true", "its parameter (not shown) is not known"},
		{"a mode that is not known", "mysql://u:S3cr3t@h/d?ssl-mode=maybe", "its ssl-mode is not known"},
		{"a port that is none", "mysql://u:S3cr3t@h:0/d", "its port is not a number"},
		{"several hosts", "mysql://u:S3cr3t@a,b/d", "several hosts"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseURL(tc.url)
			text := fmt.Sprint(got, " ", got.user, " ", got.password, " ", got.Mode, " ", got.RootCert)
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tc.want) || strings.Contains(text, password) {
				t.Fatalf("%q, want %q", text, tc.want)
			}
		})
	}
}

// From the moment that a transaction knows a relation, nobody changes it, and no
// snapshot was taken before.
func TestARelationIsHeldBeforeTheSnapshot(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table held (id int primary key); insert into held values (1); set lock_wait_timeout = 1")
	src := s.source(t)
	for _, rel := range []source.Relation{s.table("held"), {Query: "select id from held"}} {
		if err := src.transaction(t.Context(), "look", func() error {
			r, err := src.session.find(t.Context(), rel)
			if err != nil {
				return err
			}
			if _, err := s.admin.ExecContext(t.Context(), "truncate held"); err == nil || !strings.Contains(err.Error(), "1205") {
				t.Errorf("truncate behind our back: %v", err)
			}
			s.exec(t, "insert into held values (2)")
			rows, err := src.session.query(t.Context(), "select count(*) from "+r.from())
			if err == nil && rows[0].text(0) != "2" {
				t.Errorf("%s rows: the snapshot is older than the lock", rows[0].text(0))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.exec(t, "delete from held where id = 2")
	}
}

// OPS-06: a server that has no place for another connection says so by the code
// for which a worker waits.
func TestAServerWithoutAPlace(t *testing.T) {
	s := newServer(t)
	const name = "crowded@'127.0.0.1'"
	s.exec(t, "drop user if exists "+name+"; create user "+name+" identified by '"+password+"' with max_user_connections 1")
	s.last = append(s.last, "drop user "+name)
	u := *s.url
	u.User, u.Path = url.UserPassword("crowded", password), "/information_schema"
	crowded := exportconfig.Source{Inline: exportconfig.InlineSecret{URL: u.String()}}
	held, err := Open(t.Context(), crowded, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close(t.Context())
	if _, err := Open(t.Context(), crowded, nil); fault.CodeOf(err) != source.CodeOverloaded || !fault.Retry(err) || strings.Contains(err.Error(), password) {
		t.Fatal(err)
	}
}

// OPS-02: an upload takes longer than the server waits for a client that reads
// nothing. The rows behind it come all the same.
func TestAReaderMayStallForLongerThanTheServerWaits(t *testing.T) {
	s := newServer(t)
	const rows = 400
	s.exec(t, "create table wide (id int primary key, v longtext not null)")
	s.exec(t, fmt.Sprintf("insert into wide select seq, repeat('x', 65536) from seq_1_to_%d", rows)) // more than sockets hold
	var before string
	if err := s.admin.QueryRowContext(t.Context(), "select @@global.net_write_timeout").Scan(&before); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "set global net_write_timeout = 1")
	defer s.exec(t, "set global net_write_timeout = "+before)
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("wide"))
	if err != nil {
		t.Fatal(err)
	}
	spec := source.ReadSpec{Relation: s.table("wide"), Columns: table.Columns, Key: table.Keys[0].Columns, Ordered: true, Unique: true, BatchRows: 1}
	r, err := src.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	n := 0
	for ; err == nil; n++ {
		if n == 1 {
			s.exec(t, "do sleep(3)")
		}
		_, err = r.Next(t.Context())
	}
	if n--; err != io.EOF || n != rows {
		t.Errorf("%d of %d rows, then %v", n, rows, err)
	}
}

// SEC-05: a query reads. The server refuses one that writes, also through a
// function, and nothing is changed.
func TestAQueryThatWritesIsRefused(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table t (id int primary key); insert into t values (1), (2)")
	s.exec(t, "create function takes() returns int deterministic modifies sql data begin delete from t; return 1; end")
	for _, tc := range []struct {
		name, query string
		code        fault.Code
	}{
		{"a function that writes", "select takes() as n", failure.Writes},
		{"a function that writes, in a condition", "select id from t where takes() = 1", failure.Writes},
		{"a statement that writes and returns rows", "delete from t returning id", failure.Query},
		{"rows into a file", "select id from t into outfile '/tmp/rows'", failure.Query},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := s.source(t)
			rel := source.Relation{Query: tc.query}
			_, err := export(t, src, rel)
			if fault.CodeOf(err) != tc.code || fault.Retry(err) {
				t.Errorf("%v, want %s", err, tc.code)
			}
		})
	}
	var left int
	if err := s.admin.QueryRowContext(t.Context(), "select count(*) from t").Scan(&left); err != nil || left != 2 {
		t.Errorf("%d rows are left: %v", left, err)
	}
}

// OPS-10: a read that takes longer than tuning.statement_timeout_s is not tried
// again as it is: the error says what to do about it.
func TestAStatementThatTakesTooLong(t *testing.T) {
	s := newServer(t)
	src, err := Open(t.Context(), exportconfig.Source{Inline: exportconfig.InlineSecret{URL: s.url.String()}, StatementTimeoutSeconds: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close(t.Context())
	for _, query := range []string{"select count(*) as n from seq_1_to_1000000 a, seq_1_to_1000000 b", "select seq, repeat('x', 200000) as v, sleep(0.1) as s from seq_1_to_100"} {
		spec := source.ReadSpec{Relation: source.Relation{Query: query}, BatchRows: 1}
		spec.Range.All = true
		table, err := src.Describe(t.Context(), spec.Relation)
		if err != nil {
			t.Fatal(err)
		}
		spec.Columns = table.Columns
		r, err := src.Read(t.Context(), spec)
		for err == nil {
			_, err = r.Next(t.Context())
		}
		if fault.CodeOf(err) != failure.Timeout || fault.Retry(err) || !strings.Contains(err.Error(), "smaller chunks") {
			t.Errorf("%s: %v", query, err)
		}
		if r != nil {
			_ = r.Close(t.Context())
		}
	}
}
