package mysql

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// overTLS makes sources speak TLS to the server and check who it is.
func (s *server) overTLS(t *testing.T) *server {
	t.Helper()
	var certificate string
	if err := s.admin.QueryRowContext(t.Context(), "select coalesce(@@ssl_cert, '')").Scan(&certificate); err != nil {
		t.Fatal(err)
	}
	if certificate == "" {
		t.Skip("the server has no certificate")
	}
	s.url.RawQuery = url.Values{"ssl-mode": {"VERIFY_IDENTITY"}, "ssl-ca": {certificate}}.Encode()
	return s
}

func TestDriverOverTLS(t *testing.T) { sourcetest.Run(t, newServer(t).overTLS(t)) }

// The connection is encrypted for all that is said, and for rows too.
func TestRowsOverTLS(t *testing.T) {
	s := newServer(t).overTLS(t)
	s.exec(t, "create table t (id int primary key, v longtext); insert into t values (1, repeat('é', 3000000)), (2, null)")
	src := s.source(t)
	rows, err := src.session.query(t.Context(), "show session status like 'Ssl_cipher'")
	if err != nil || rows[0].text(1) == "" {
		t.Fatalf("%q, %v", rows, err)
	}
	b, err := export(t, src, s.table("t"))
	if err != nil || b.Rows != 2 || string(b.Columns[1].Slice(0)) != strings.Repeat("é", 3000000) || !b.Columns[1].IsNull(1) {
		t.Fatalf("%d rows, %v", b.Rows, err)
	}
}

// A row may be longer than a packet can be.
func TestRowsLongerThanAPacket(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table t (id int primary key, a longtext, b longblob, c int);
		insert into t values (1, repeat('a', 9000000), repeat(x'00ff', 5000000), 7), (2, '', null, 8), (3, repeat('z', 15000000), repeat('y', 15000000), 9)`)
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("t"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Range: everyRow, BatchRows: 1, MaxValueBytes: 15000000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	for i, want := range [][]string{
		{strings.Repeat("a", 9000000), strings.Repeat("\x00\xff", 5000000)},
		{"", ""},
		{strings.Repeat("z", 15000000), strings.Repeat("y", 15000000)},
	} {
		b, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if string(b.Columns[1].Slice(0)) != want[0] || string(b.Columns[2].Slice(0)) != want[1] || b.Columns[3].I32[0] != int32(7+i) {
			t.Errorf("row %d has %d and %d bytes, want %d and %d", i+1, len(b.Columns[1].Slice(0)), len(b.Columns[2].Slice(0)), len(want[0]), len(want[1]))
		}
	}
	if _, err := r.Next(t.Context()); err != io.EOF {
		t.Error(err)
	}
}

// A connection that is killed while it reads says so; nothing of its rows counts.
func TestAKilledReadIsAnError(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table t (id int primary key, v varchar(1000)); insert into t select seq, repeat('v', 1000) from seq_1_to_30000")
	src := s.source(t)
	rows, err := src.session.query(t.Context(), "select connection_id()")
	if err != nil {
		t.Fatal(err)
	}
	table, err := src.Describe(t.Context(), s.table("t"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Range: everyRow, BatchRows: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.WithoutCancel(t.Context()))
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.exec(t, "kill "+rows[0].text(0))
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if errors.Is(err, io.EOF) || fault.ClassOf(err) != fault.Retryable || fault.CodeOf(err) != failure.Unreachable {
		t.Fatalf("%v", err)
	}
	if n := count(t, src, source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Range: everyRow}); n != 30000 {
		t.Fatalf("%d rows from the source that lost its connection", n)
	}
}

// A refusal leads to the row: by its key, also where that comes last, and by a
// condition that finds it (WRT-20).
func TestARefusalNamesTheKeyOfItsRow(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table t (v longtext, d date, b varbinary(9) not null, id int not null, primary key (id, b));
		insert into t values ('ab', null, 'k', 1), (repeat('é', 1000), null, x'00ff', 2), (null, '2024-00-00', 'k', 3)`)
	for _, tc := range []struct {
		name  string
		limit int64
		code  fault.Code
		want  []string
	}{
		{"a value that is too large", 1999, failure.TooLarge, []string{"`v`", "row 2 of the range (`id` = \"2\", `b` = \"00FF\")", "where octet_length(`v`) > 1999"}},
		{"a day of zero", 2000, failure.Value, []string{"`d`", "row 3 of the range (`id` = \"3\", `b` = \"6B\")", "dayofmonth(`d`) = 0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := s.source(t)
			table, err := src.Describe(t.Context(), s.table("t"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Key: table.Keys[0].Columns, Ordered: true, Unique: true, MaxValueBytes: tc.limit})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Next(t.Context())
			sourcetest.WantRefusal(t, err, fault.Refused, tc.code, tc.want...)
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
