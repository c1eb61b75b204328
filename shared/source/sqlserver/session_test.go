package sqlserver

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

func TestURLs(t *testing.T) {
	for _, tc := range []struct {
		name, url string
		want      string // target, user and password, or part of the refusal after "refused: "
	}{
		{"with a database as its path", "sqlserver://me:p%40ss@db.example:1444/shop", "db.example:1444/shop me p@ss"},
		{"with a database as a parameter", "sqlserver://me:secret@localhost?database=shop&encrypt=disable", "localhost:1433/shop me secret"},
		{"with the same one twice", "sqlserver://me:secret@localhost/shop?database=shop", "localhost:1433/shop me secret"},
		{"with two databases", "sqlserver://me:secret@localhost/shop?database=other", "refused: two databases"},
		{"of another engine", "mysql://me:secret@localhost/shop", "refused: its scheme"},
		{"without a user", "sqlserver://localhost/shop", "refused: no user"},
		{"without a database", "sqlserver://me:secret@localhost", "refused: no database"},
		{"with an unknown parameter", "sqlserver://me:secret@localhost/shop?app+name=x", "refused: app name"},
		{"with a parameter that may be a secret", "sqlserver://me:secret@localhost/shop?x$ecret9=x", "refused: (not shown)"},
		{"with an unknown encryption", "sqlserver://me:secret@localhost/shop?encrypt=maybe", "refused: encrypt"},
		{"with a port that is none", "sqlserver://me:secret@localhost:99999/shop", "refused: port"},
		{"with a timeout that is none", "sqlserver://me:secret@localhost/shop?dial+timeout=x", "refused: timeout"},
		{"with a stray character", "sqlserver://me:se#cret@localhost/shop", "refused: #"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := targetOf(t.Context(), exportconfig.Source{Inline: exportconfig.InlineSecret{URL: tc.url}}, nil)
			if why, refused := strings.CutPrefix(tc.want, "refused: "); refused {
				sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", why)
				if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "ecret9") {
					t.Fatalf("%v tells a secret", err)
				}
				return
			}
			if text := fmt.Sprint(got, " ", got.user, " ", got.password); err != nil || text != tc.want {
				t.Fatalf("%s, %v, want %s", text, err, tc.want)
			}
		})
	}
}

func TestEncryptOfAURL(t *testing.T) {
	for parameters, want := range map[string]string{"": "", "encrypt=true": "verify-full", "encrypt=true&TrustServerCertificate=true": "require", "encrypt=false": "prefer", "trustServerCertificate=true": ""} {
		got, err := parseURL("sqlserver://me:secret@localhost/shop?" + parameters)
		if err != nil || got.Mode != want {
			t.Errorf("%s is %q, want %q; %v", parameters, got.Mode, want, err)
		}
	}
}

func openWith(t *testing.T, s *server, change func(*exportconfig.Source)) (*Source, error) {
	t.Helper()
	cfg := s.config(s.Address())
	change(&cfg)
	src, err := Open(t.Context(), cfg, nil)
	if err == nil {
		t.Cleanup(func() { _ = src.Close(context.WithoutCancel(t.Context())) })
	}
	return src, err
}

func TestSigningIn(t *testing.T) {
	s := newServer(t)
	with := func(user, password, path string) func(*exportconfig.Source) {
		return func(cfg *exportconfig.Source) {
			u := url.URL{Scheme: "sqlserver", User: url.UserPassword(user, password), Host: s.Address(), Path: path}
			cfg.Inline.URL = u.String()
		}
	}
	if _, err := openWith(t, s, with("sa", "secret", "/shop")); err != nil {
		t.Fatal(err)
	}
	_, err := openWith(t, s, with("sa", "wr0ng", "/shop"))
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Auth, "18456")
	if strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("%v tells the password", err)
	}
	_, err = openWith(t, s, with("sa", "secret", "/other"))
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Database, "other")
	_, err = openWith(t, s, func(cfg *exportconfig.Source) { cfg.TLS.Mode = "verify-full" })
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.TLS, "plain text")
	_, err = openWith(t, s, func(cfg *exportconfig.Source) { cfg.Inline.URL = "sqlserver://sa:secret@db.example/shop" })
	sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED", "db.example")
	s.listener.Close()
	_, err = openWith(t, s, func(*exportconfig.Source) {})
	sourcetest.WantRefusal(t, err, fault.Retryable, failure.Unreachable, s.Address())
}

// A password that was rotated is found when the old one is refused (SEC-08).
func TestARotatedPasswordIsFound(t *testing.T) {
	s := newServer(t)
	cfg := s.config(s.Address())
	stale := strings.Replace(cfg.Inline.URL, "secret", "stale", 1)
	asked := 0
	src, err := Open(t.Context(), exportconfig.Source{Name: "default", Type: Engine, URLRef: "env://URL"}, func(context.Context, string) (string, error) {
		if asked++; asked == 1 {
			return stale, nil
		}
		return cfg.Inline.URL, nil
	})
	if err != nil || asked != 2 {
		t.Fatalf("asked %d times: %v", asked, err)
	}
	_ = src.Close(t.Context())
}

func TestASessionOverTLS(t *testing.T) {
	certified := httptest.NewTLSServer(nil) // for 127.0.0.1
	t.Cleanup(certified.Close)
	roots := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{Database: &standin.Database{Name: "shop", Snapshot: true}}
	s.serve(t, tdsfake.Options{Password: "secret", TLS: &tls.Config{Certificates: certified.TLS.Certificates}})
	s.cfg.TLS = exportconfig.TLS{Mode: "verify-full", CAFile: roots}
	rel := s.made("secure", columnOf("nvarchar", -1), strings.Repeat("a long text ", 10_000))
	if b, err := export(t, s.source(t), rel); err != nil || b.Rows != 1 || len(printed(&b.Columns[1], 0)) != 120_000 {
		t.Fatal(err)
	}
	s.cfg.TLS.CAFile = ""
	_, err := Open(t.Context(), s.config(s.Address()), nil)
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.TLS, "certificate")
}

func TestASessionThatKeepsNoSettingsIsRefused(t *testing.T) {
	s := newServer(t)
	heard := 0
	s.Heard = func(batch string) error {
		heard++
		return nil
	}
	src, err := openWith(t, s, func(cfg *exportconfig.Source) { cfg.LockTimeoutSeconds = 3 })
	if err != nil || heard != 2 {
		t.Fatalf("%d batches, %v", heard, err)
	}
	if rows, err := src.session.query(t.Context(), "select @@lock_timeout"); err != nil || rows[0].int(0) != 3000 {
		t.Fatalf("%v, %v", rows, err)
	}
	s.Forgets = true
	_, err = openWith(t, s, func(*exportconfig.Source) {})
	sourcetest.WantRefusal(t, err, fault.Permanent, "LAPSTRAKE_SOURCE_SESSION", "proxy")
}

// What the server would hide or change without a word is refused by name.
func TestWhatTheServerWouldHide(t *testing.T) {
	s := newServer(t)
	rel := s.made("hidden", columnOf("int"), int64(1))
	src := s.source(t)
	for _, tc := range []struct {
		name string
		make func()
		code fault.Code
		says string
	}{
		{"rows by a policy", func() { s.Hidden = map[string]bool{"dbo.hidden": true} }, failure.RowSecurity, "security policy"},
		{"values by a mask", func() { s.Masked = map[string]bool{"dbo.hidden.v": true} }, failure.Permission, "[v]"},
		{"values by encryption", func() { s.Encrypted = map[string]bool{"dbo.hidden.v": true} }, failure.Type, "[v]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.Hidden, s.Masked, s.Encrypted = nil, nil, nil
			tc.make()
			_, err := src.Describe(t.Context(), rel)
			sourcetest.WantRefusal(t, err, fault.Permanent, tc.code, "[hidden]", tc.says)
			_, err = src.Read(t.Context(), source.ReadSpec{Relation: rel})
			sourcetest.WantRefusal(t, err, fault.Permanent, tc.code)
		})
	}
}

func TestQueriesAndNames(t *testing.T) {
	s := newServer(t)
	s.Database.Create("dbo", `[we]ird "t" name`, []standin.Column{{Name: "[se]lect", Type: tdsfake.Type{Name: "int"}, NotNull: true}, {Name: "a.b", Type: tdsfake.Type{Name: "int"}}}, "[se]lect")
	s.Database.Insert("dbo", `[we]ird "t" name`, []any{int64(1), int64(2)})
	src := s.source(t)
	if b, err := export(t, src, source.Relation{Name: `[we]ird "t" name`}); err != nil || b.Rows != 1 || printed(&b.Columns[1], 0) != "2" {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, query, want string }{
		{"a query with a comment at its end", "select [a.b] from [[we]]ird \"t\" name] -- the end", "2"},
		{"a constant", "select convert(nvarchar(10), N'x') as c from [[we]]ird \"t\" name]", "x"},
		{"a column without a name", "select 1 + 1 from [[we]]ird \"t\" name]", "refused: has no name"},
		{"a column that is not there", "select [b] from [[we]]ird \"t\" name]", "refused: 207"},
		{"a table that is not there", "select b from missing", "refused: 208"},
		{"an order", "select [a.b] from [[we]]ird \"t\" name] order by [a.b]", "refused: ORDER BY"},
		{"no query", "selec 1", "refused: 102"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := export(t, src, source.Relation{Query: tc.query})
			if why, refused := strings.CutPrefix(tc.want, "refused: "); refused {
				if fault.ClassOf(err) != fault.Permanent || !strings.Contains(err.Error(), why) {
					t.Fatalf("%v, want a refusal with %s", err, why)
				}
				return
			}
			if err != nil || printed(&b.Columns[0], 0) != tc.want {
				t.Fatal(err)
			}
		})
	}
	_, err := src.Describe(t.Context(), source.Relation{Schema: "dbo", Name: "a\x00b"})
	sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE")
	_, err = src.Describe(t.Context(), source.Relation{Schema: "dbo", Name: `[we]ird "t" name`, Overrides: map[string]string{"A.B": "text"}})
	sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", "there is [a.b]")
}

// What the server answers is told by class and code, also in the middle of the
// rows.
func TestAnswersOfTheServer(t *testing.T) {
	s := newServer(t)
	rel := s.made("answers", columnOf("int"), int64(1), int64(2))
	for _, tc := range []struct {
		number int32
		class  fault.Class
		code   fault.Code
		says   string
	}{
		{1205, fault.Retryable, failure.Conflict, "deadlock"},
		{1222, fault.Retryable, failure.LockTimeout, "1222"},
		{3960, fault.Retryable, failure.Conflict, "changed"},
		{230, fault.Permanent, failure.Permission, "SELECT"},
		{245, fault.Permanent, failure.Query, "not shown"},
		{824, fault.Permanent, failure.Corrupted, "824"},
		{40501, fault.Retryable, failure.Overloaded, "40501"},
		{99999, fault.Retryable, failure.Server, "99999"},
	} {
		t.Run(fmt.Sprint(tc.number), func(t *testing.T) {
			src := s.source(t)
			s.Heard = func(batch string) error {
				if strings.HasPrefix(batch, "select _lapstrake") {
					return tdsfake.Error{Number: tc.number, Class: 16, Message: "says the value 4711"}
				}
				return nil
			}
			_, err := export(t, src, rel)
			sourcetest.WantRefusal(t, err, tc.class, tc.code, tc.says)
			if tc.says == "not shown" && strings.Contains(err.Error(), "4711") {
				t.Errorf("%v quotes a value", err)
			}
			s.Heard = nil
			if b, err := export(t, src, rel); err != nil || b.Rows != 2 {
				t.Fatalf("the next read: %v", err)
			}
		})
	}
}

// A transaction that ended under the rows makes them no whole range.
func TestATransactionThatEndedIsNoEnd(t *testing.T) {
	s := newServer(t)
	rel := s.made("ended", columnOf("int"), int64(1))
	src := s.source(t)
	s.Ends = "select _lapstrake"
	_, err := export(t, src, rel)
	sourcetest.WantRefusal(t, err, fault.Retryable, failure.Stream, "ended")
}

// A connection that died between two transactions, as it does while a function
// is frozen, is replaced (OPS-05); one that dies in a read is an error.
func TestALostConnectionIsReplacedBetweenReads(t *testing.T) {
	s := newServer(t)
	rel := s.made("lost", columnOf("int"), int64(1))
	src := s.source(t)
	for range 2 {
		if b, err := export(t, src, rel); err != nil || b.Rows != 1 {
			t.Fatal(err)
		}
		s.listener.Disconnect()
	}
	s.Heard = func(batch string) error {
		if strings.HasPrefix(batch, "select _lapstrake") {
			return tdsfake.ErrDrop
		}
		return nil
	}
	if _, err := export(t, src, rel); fault.CodeOf(err) != failure.Unreachable || errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

// A statement that takes longer than it may is ended from our side: the server
// has no limit of its own.
func TestAStatementThatTakesTooLong(t *testing.T) {
	s := newServer(t)
	rel := s.made("slow", columnOf("int"), int64(1))
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	src := s.source(t)
	src.session.cfg.StatementTimeoutSeconds = 1
	s.Heard = func(batch string) error {
		if strings.HasPrefix(batch, "select _lapstrake") {
			<-release
		}
		return nil
	}
	_, err := export(t, src, rel)
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Timeout, "tuning.statement_timeout_s")
}
