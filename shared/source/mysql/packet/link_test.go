package packet

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
)

const secret = "S3cr3t"

// doorkeeper is a server's side of the sign-in.
type doorkeeper struct {
	t    *testing.T
	conn net.Conn
	next byte // the number that the next packet has
}

// hear takes a packet, whose number has to be the next.
func (d *doorkeeper) hear() []byte {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(d.conn, header); err != nil {
		return nil
	}
	p := make([]byte, int(header[0])|int(header[1])<<8)
	if _, err := io.ReadFull(d.conn, p); err != nil {
		return nil
	}
	if header[3] == 0 { // a command
		d.next = 0
	}
	if header[3] != d.next {
		d.t.Errorf("packet %d came where %d was due", header[3], d.next)
	}
	d.next++
	return p
}

func (d *doorkeeper) say(packets ...[]byte) {
	for _, p := range packets {
		_, _ = d.conn.Write(numbered(d.next, p)) // whoever hangs up is seen at the other end
		d.next++
	}
}

// greetingOf is the first packet of a server with these capabilities.
func greetingOf(capabilities uint32) []byte {
	p := append([]byte{10}, "8.4.0\x00"...)
	p = append(p, 1, 0, 0, 0)
	p = append(p, "12345678\x00"...)
	p = binary.LittleEndian.AppendUint16(p, uint16(capabilities))
	p = append(p, 255, 2, 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(capabilities>>16))
	p = append(p, 21)
	p = append(p, make([]byte, 10)...)
	return append(p, "123456789012\x00caching_sha2_password\x00"...)
}

const everything = 0xffffffff &^ (1 << 5) // but compression

// signIn lets the library sign in to the server that keeps does. It returns the
// link.
func signIn(t *testing.T, private *tls.Config, keep func(*doorkeeper)) (*Link, error) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer server.Close()
		keep(&doorkeeper{t: t, conn: server})
	}()
	t.Cleanup(func() {
		_ = client.Close()
		<-done
	})
	link := NewLink(client, private)
	config := mysqldriver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.Logger = "reader", secret, "unix", "/s", &mysqldriver.NopLogger{}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return link, nil }
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = connector.Connect(t.Context())
	return link, err
}

// identity is a server's certificate and what trusts it.
func identity(t *testing.T) (server, client *tls.Config) {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots, ServerName: "example.com"}
}

// A password that the server does not remember is sent as it is, and only over
// TLS; then the library and a statement share the connection.
func TestTheLibrarySignsInOverTLS(t *testing.T) {
	serverTLS, clientTLS := identity(t)
	link, err := signIn(t, clientTLS, func(d *doorkeeper) {
		d.say(greetingOf(everything))
		request := d.hear()
		if len(request) != sslRequestSize || binary.LittleEndian.Uint32(request)&capabilitySSL == 0 {
			t.Errorf("% x is no request for TLS", request)
		}
		d.conn = tls.Server(d.conn, serverTLS)
		if response := d.hear(); len(response) < sslRequestSize || !bytes.Equal(response[:sslRequestSize], request) || !bytes.Contains(response, []byte("reader\x00")) {
			t.Errorf("the response is % x", response)
		}
		d.say([]byte{1, 4}) // sign in from the beginning
		if got := d.hear(); string(got) != secret+"\x00" {
			t.Errorf("the password is %q", got)
		}
		d.say([]byte{0, 0, 0, 2, 0, 0, 0})
		d.hear() // prepare
		d.say(prepared(1), intColumn)
		d.hear() // execute
		d.say([]byte{1}, intColumn, row(1, []byte{7, 0, 0, 0}), endOK)
	})
	if err != nil || link.Failure() != nil {
		t.Fatal(err, link.Failure())
	}
	if link.agreed != (capabilities{deprecateEOF: true}) {
		t.Errorf("agreed on %+v", link.agreed)
	}
	if rows, err := drain(link, 0); err != nil || strings.Join(rows, " ") != "7" {
		t.Fatalf("%q, %v", rows, err)
	}
}

// What MariaDB and the library agree on is seen as they do.
func TestWhatWasAgreedOnIsSeen(t *testing.T) {
	for _, tc := range []struct {
		name         string
		capabilities uint32
		extended     byte
		want         capabilities
	}{
		{"MySQL", everything, 0xff, capabilities{deprecateEOF: true}},
		{"an old server", everything &^ capabilityDeprecateEOF, 0, capabilities{}},
		{"MariaDB", everything &^ capabilityMySQL, extendedCacheMetadata, capabilities{deprecateEOF: true, cacheMetadata: true}},
		{"an older MariaDB", everything &^ capabilityMySQL, 0, capabilities{deprecateEOF: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			greeting := greetingOf(tc.capabilities)
			greeting[len(greeting)-len("123456789012\x00caching_sha2_password\x00")-4] = tc.extended
			link, err := signIn(t, nil, func(d *doorkeeper) {
				d.say(greeting)
				d.hear()
				d.say([]byte{1, 3}, []byte{0, 0, 0, 2, 0, 0, 0}) // the password is remembered
			})
			if err != nil || link.agreed != tc.want {
				t.Fatalf("%+v, %v", link.agreed, err)
			}
		})
	}
}

// To a client of MySQL the place of MariaDB's capabilities is a filler.
func TestAFillerIsNoCapability(t *testing.T) {
	link := scripted(nil, capabilities{})
	link.stage = greeted
	response := append([]byte{sslRequestSize, 0, 0, 1}, bytes.Repeat([]byte{0xff}, sslRequestSize)...)
	if _, err := link.Write(response); err != nil || link.agreed != (capabilities{deprecateEOF: true}) {
		t.Fatalf("%+v, %v", link.agreed, err)
	}
}

// Nothing that tells who signs in is sent without the encryption that was asked
// for.
func TestWithoutItsEncryptionNothingIsSaid(t *testing.T) {
	serverTLS, clientTLS := identity(t)
	stranger := &tls.Config{ServerName: "example.com"}
	var heard []byte
	overTLS := func(d *doorkeeper) {
		d.say(greetingOf(everything))
		heard = d.hear()
		d.conn = tls.Server(d.conn, serverTLS)
		heard = append(heard, d.hear()...)
	}
	for _, tc := range []struct {
		name string
		as   *tls.Config
		keep func(*doorkeeper)
		want func(error) bool
	}{
		{"a server without TLS", clientTLS, func(d *doorkeeper) { d.say(greetingOf(everything &^ capabilitySSL)); heard = d.hear() },
			func(err error) bool { return errors.Is(err, ErrNoTLS) }},
		{"a greeting that is cut off", clientTLS, func(d *doorkeeper) { d.say([]byte("\x0a8.4.0\x00")); heard = d.hear() },
			func(err error) bool { return errors.Is(err, ErrNoTLS) }},
		{"a certificate of another", stranger, overTLS, func(err error) bool {
			var certificate *tls.CertificateVerificationError
			return errors.As(err, &certificate)
		}},
		{"a server that hangs up", clientTLS, func(d *doorkeeper) { d.say(greetingOf(everything)); heard = d.hear() },
			func(err error) bool { return err != nil }},
		{"a greeting of megabytes", clientTLS, func(d *doorkeeper) { _, _ = d.conn.Write([]byte{0, 0, 255, 0}); heard = d.hear() },
			func(err error) bool { var broken BrokenError; return errors.As(err, &broken) }},
		{"nothing", clientTLS, func(*doorkeeper) { heard = nil },
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var link *Link
			t.Run("sign in", func(t *testing.T) {
				var err error
				if link, err = signIn(t, tc.as, tc.keep); err == nil {
					t.Error("signed in")
				}
			})
			if !tc.want(link.Failure()) {
				t.Errorf("%v", link.Failure())
			}
			if bytes.Contains(heard, []byte("reader")) || len(heard) > sslRequestSize {
				t.Errorf("the server heard %q", heard)
			}
		})
	}
}

// A server that refuses in place of its greeting says why.
func TestAServerThatRefusesAtOnce(t *testing.T) {
	_, clientTLS := identity(t)
	_, err := signIn(t, clientTLS, func(d *doorkeeper) { d.say([]byte("\xff\x10\x04Too many connections")) })
	var refused *mysqldriver.MySQLError
	if !errors.As(err, &refused) || refused.Number != 1040 {
		t.Fatalf("%v", err)
	}
}
