package postgres

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// mock is a server that says what a test wants it to say.
type mock struct {
	listener net.Listener
	tls      *tls.Config
	// answer is called for each COPY; the connection ends unless it returns
	// true.
	answer func(b *pgproto3.Backend) bool
	// refuse, if there is one, is told each password, and none is right.
	refuse func(password string)
}

func newMock(t *testing.T, m mock) *mock {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.listener = listener
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				m.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return &m
}

func (m *mock) serve(conn net.Conn) {
	b := pgproto3.NewBackend(conn, conn)
	startup, err := b.ReceiveStartupMessage()
	if _, asked := startup.(*pgproto3.SSLRequest); asked && err == nil {
		if m.tls == nil {
			_, _ = conn.Write([]byte("N"))
			return
		}
		_, _ = conn.Write([]byte("S"))
		secured := tls.Server(conn, m.tls)
		b = pgproto3.NewBackend(secured, secured)
		startup, err = b.ReceiveStartupMessage()
	}
	if _, ok := startup.(*pgproto3.StartupMessage); !ok || err != nil {
		return
	}
	if m.refuse != nil {
		b.Send(&pgproto3.AuthenticationCleartextPassword{})
		_ = b.Flush()
		if answer, err := b.Receive(); err == nil {
			m.refuse(answer.(*pgproto3.PasswordMessage).Password)
		}
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "28000", Message: "PAM authentication failed"})
		_ = b.Flush()
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "15.0"})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 2}})
	ready(b)
	for {
		message, err := b.Receive()
		if err != nil {
			return
		}
		query, ok := message.(*pgproto3.Query)
		switch {
		case !ok:
			return
		case strings.HasPrefix(query.String, "copy "):
			on := m.answer(b)
			if b.Flush() != nil || !on {
				return
			}
		default:
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SET")})
			ready(b)
		}
	}
}

func ready(b *pgproto3.Backend) {
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	_ = b.Flush()
}

// open connects to the mock.
func (m *mock) open(t *testing.T, config exportconfig.TLS, host string) (*Source, error) {
	t.Helper()
	_, port, _ := net.SplitHostPort(m.listener.Addr().String())
	cfg := exportconfig.Source{TLS: config, Inline: exportconfig.InlineSecret{URL: "postgres://u:" + password + "@" + host + ":" + port + "/d"}}
	s, err := Open(t.Context(), cfg, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close(t.Context()) })
	}
	return s, err
}

// TestEndOfStream hears every kind of end: only one is the end of the range.
func TestEndOfStream(t *testing.T) {
	rows := newStream().row([]byte("a")).row([]byte("b")).Bytes()
	data := &pgproto3.CopyData{Data: rows}
	trailer := &pgproto3.CopyData{Data: []byte{0xff, 0xff}}
	done, complete := &pgproto3.CopyDone{}, &pgproto3.CommandComplete{CommandTag: []byte("COPY 2")}
	failed := &pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "57014", Message: "canceling statement due to statement timeout"}
	fatal := &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01", Message: "terminating connection"}
	for _, tc := range []struct {
		name     string
		messages []pgproto3.BackendMessage
		hangUp   bool // no ReadyForQuery
		want     fault.Code
	}{
		{"all of it", []pgproto3.BackendMessage{data, trailer, done, complete}, false, ""},
		{"with a notice in between", []pgproto3.BackendMessage{data, &pgproto3.NoticeResponse{Message: "by the way"}, trailer, done, complete}, false, ""},
		{"no rows, no trailer", []pgproto3.BackendMessage{done, &pgproto3.CommandComplete{CommandTag: []byte("COPY 0")}}, false, failure.Stream},
		{"without the trailer", []pgproto3.BackendMessage{data, done, complete}, false, failure.Stream},
		{"without a count", []pgproto3.BackendMessage{data, trailer, done}, false, failure.Stream},
		{"with another count", []pgproto3.BackendMessage{data, trailer, done, &pgproto3.CommandComplete{CommandTag: []byte("COPY 3")}}, false, failure.Stream},
		{"with more after the trailer", []pgproto3.BackendMessage{data, trailer, data, done, complete}, false, failure.Stream},
		{"an error after the rows", []pgproto3.BackendMessage{data, failed}, false, failure.Timeout},
		{"an error after the trailer", []pgproto3.BackendMessage{data, trailer, failed}, false, failure.Timeout},
		{"the server's own end", []pgproto3.BackendMessage{data, fatal}, true, failure.Unreachable},
		{"silence after the rows", []pgproto3.BackendMessage{data}, true, failure.Unreachable},
		{"silence after the trailer", []pgproto3.BackendMessage{data, trailer}, true, failure.Unreachable},
		{"silence after the end of the data", []pgproto3.BackendMessage{data, trailer, done}, true, failure.Unreachable},
		{"silence after the count", []pgproto3.BackendMessage{data, trailer, done, complete}, true, failure.Unreachable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMock(t, mock{answer: func(b *pgproto3.Backend) bool {
				b.Send(&pgproto3.CopyOutResponse{OverallFormat: 1, ColumnFormatCodes: []uint16{1}})
				for _, message := range tc.messages {
					b.Send(message)
				}
				if !tc.hangUp {
					b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
				}
				return !tc.hangUp
			}})
			s, err := m.open(t, exportconfig.TLS{}, "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			columns := mapped(t, "text")
			r := newReader(s, relation{kind: "r"}, source.ReadSpec{Columns: []rowtype.Column{columns[0].Column}, BatchRows: 1}, columns, rowkey.Plan{}, 0, "select", "")
			s.reading = r
			r.start(t.Context())
			n := 0
			for {
				b, nextErr := r.Next(t.Context())
				if err = nextErr; err != nil {
					break
				}
				n += b.Rows
			}
			if tc.want == "" {
				if err != io.EOF || n != 2 {
					t.Fatalf("%d rows, %v", n, err)
				}
				return
			}
			if fault.CodeOf(err) != tc.want {
				t.Fatalf("%d rows, %v; want %s", n, err, tc.want)
			}
			if again := func() error { _, err := r.Next(t.Context()); return err }(); again != err {
				t.Fatalf("first %v, then %v", err, again)
			}
		})
	}
}

// authority makes a certificate authority in a file, and a server's
// certificate of it for the name db.test.
func authority(t *testing.T) (caFile string, config *tls.Config) {
	t.Helper()
	now := clock.System{}.Now()
	make := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			signer, parent = key, template
		}
		template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, key
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, caKey := make(ca, nil, nil)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"db.test"}, KeyUsage: x509.KeyUsageDigitalSignature}
	der, key := make(leaf, ca, caKey)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), 0o600); err != nil {
		t.Fatal(err)
	}
	return caFile, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// TestTLSHandshakes connects to a server whose certificate is for another name
// than the one it is reached under, 127.0.0.1 (SEC-06).
func TestTLSHandshakes(t *testing.T) {
	caFile, config := authority(t)
	otherCA, _ := authority(t)
	secured, plain := newMock(t, mock{tls: config}), newMock(t, mock{})
	for _, tc := range []struct {
		name   string
		server *mock
		tls    exportconfig.TLS
		want   fault.Code
	}{
		{"anybody", secured, exportconfig.TLS{Mode: "require"}, ""},
		{"the right authority", secured, exportconfig.TLS{Mode: "verify-ca", CAFile: caFile}, ""},
		{"an authority given with require is checked", secured, exportconfig.TLS{Mode: "require", CAFile: otherCA}, failure.TLS},
		{"the wrong authority", secured, exportconfig.TLS{Mode: "verify-ca", CAFile: otherCA}, failure.TLS},
		{"an authority that the system does not know", secured, exportconfig.TLS{Mode: "verify-full"}, failure.TLS},
		{"the wrong name", secured, exportconfig.TLS{Mode: "verify-full", CAFile: caFile}, failure.TLS},
		{"the wrong name, accepted", secured, exportconfig.TLS{Mode: "verify-full", CAFile: caFile, AcceptInvalidHostnames: true}, ""},
		{"the wrong authority, accepted", secured, exportconfig.TLS{Mode: "verify-full", CAFile: otherCA, AcceptInvalidCerts: true}, ""},
		{"a server without TLS", plain, exportconfig.TLS{Mode: "require"}, failure.TLS},
		{"a server without TLS, asked for no matter whom", plain, exportconfig.TLS{Mode: "verify-full", AcceptInvalidCerts: true}, failure.TLS},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.server.open(t, tc.tls, "127.0.0.1")
			if fault.CodeOf(err) != tc.want || err != nil && strings.Contains(err.Error(), password) {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			if err != nil && fault.Retry(err) {
				t.Fatalf("%v is tried again", err)
			}
		})
	}
}
