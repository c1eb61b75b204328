package mysql

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

const token = "db.example.com:3306?Action=connect&X-Amz-Signature=5163"

// rds is a server that wants passwords as they are, and takes none.
type rds struct {
	listener net.Listener
	caFile   string
	heard    chan string // the password of each connection
}

func newRDS(t *testing.T) *rds {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for 127.0.0.1
	t.Cleanup(certified.Close)
	r := &rds{caFile: filepath.Join(t.TempDir(), "ca.pem"), heard: make(chan string, 10)}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})
	if err := os.WriteFile(r.caFile, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := r.listener.Accept()
			if err != nil {
				return
			}
			r.refuse(conn, &tls.Config{Certificates: certified.TLS.Certificates})
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = r.listener.Close()
		<-done
	})
	return r
}

// refuse asks for a password over TLS, keeps it and answers that it is wrong.
func (r *rds) refuse(conn net.Conn, private *tls.Config) {
	greeting := "\x0a8.0.36\x00\x01\x00\x00\x00" + "12345678\x00" + "\xff\xff\xff\x02\x00\xff\xdf\x15" + strings.Repeat("\x00", 10) + "123456789012\x00" + "mysql_native_password\x00"
	say(conn, 0, greeting)
	_, _ = hear(conn) // the request for TLS
	secured := tls.Server(conn, private)
	_, _ = hear(secured)
	say(secured, 3, "\xfemysql_clear_password\x00")
	if password, err := hear(secured); err == nil {
		r.heard <- strings.TrimSuffix(password, "\x00")
	}
	say(secured, 5, "\xff\x15\x04#28000Access denied")
}

// say writes a packet. Whoever has hung up is seen at the other end.
func say(conn net.Conn, number byte, body string) {
	_, _ = conn.Write(append([]byte{byte(len(body)), 0, 0, number}, body...))
}

func hear(conn net.Conn) (string, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(conn, header); err != nil {
		return "", err
	}
	body := make([]byte, int(header[0])|int(header[1])<<8)
	_, err := io.ReadFull(conn, body)
	return string(body), err
}

func (r *rds) source() exportconfig.Source {
	_, port, _ := net.SplitHostPort(r.listener.Addr().String())
	n, _ := strconv.Atoi(port)
	return exportconfig.Source{
		Host: "127.0.0.1", Port: n, User: "reader", Database: "shop", PasswordRef: exportconfig.TokenScheme + "://reader@127.0.0.1:" + port,
		TLS: exportconfig.TLS{Mode: "verify-full", CAFile: r.caFile},
	}
}

func TestATokenIsHandedOverAsItIsForEachConnection(t *testing.T) {
	r := newRDS(t)
	made := 0
	_, err := Open(t.Context(), r.source(), func(_ context.Context, ref string) (string, error) {
		made++
		return token + strconv.Itoa(made), nil
	})
	if fault.CodeOf(err) != failure.Auth || strings.Contains(err.Error(), "X-Amz") {
		t.Errorf("%v; want %s without the token", err, failure.Auth)
	}
	// The first was refused, so another one is made.
	if made != 2 || len(r.heard) != 2 || <-r.heard != token+"1" || <-r.heard != token+"2" {
		t.Errorf("%d tokens were made, and are not those that came", made)
	}
}

func TestAPasswordIsNotHandedOverAsItIs(t *testing.T) {
	r := newRDS(t)
	cfg := r.source()
	cfg.PasswordRef = "env://PASSWORD"
	_, err := Open(t.Context(), cfg, func(context.Context, string) (string, error) { return token, nil })
	if err == nil || len(r.heard) != 0 {
		t.Errorf("%v; %d passwords came", err, len(r.heard))
	}
}

func TestATokenStaysHereWhenTheServerIsAnother(t *testing.T) {
	r := newRDS(t)
	cfg := r.source()
	cfg.TLS.CAFile = "" // no system knows this server
	_, err := Open(t.Context(), cfg, func(context.Context, string) (string, error) { return token, nil })
	if fault.CodeOf(err) != failure.TLS || len(r.heard) != 0 {
		t.Errorf("%v; %d passwords came", err, len(r.heard))
	}
}
