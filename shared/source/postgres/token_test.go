package postgres

import (
	"context"
	"crypto/tls"
	"encoding/pem"
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

// RDS asks for a token as for any password, over TLS.
func TestATokenIsMadeForEachConnection(t *testing.T) {
	const token = "db.example.com:5432?Action=connect&X-Amz-Signature=5163"
	certified := httptest.NewTLSServer(nil) // for 127.0.0.1
	defer certified.Close()
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	m := newMock(t, mock{tls: &tls.Config{Certificates: certified.TLS.Certificates}, refuse: func(password string) { heard <- password }})
	_, port, _ := net.SplitHostPort(m.listener.Addr().String())
	n, _ := strconv.Atoi(port)
	cfg := exportconfig.Source{
		Host: "127.0.0.1", Port: n, User: "reader", Database: "shop", PasswordRef: exportconfig.TokenScheme + "://reader@127.0.0.1:" + port,
		TLS: exportconfig.TLS{Mode: "verify-full", CAFile: caFile},
	}
	made := 0
	resolve := func(context.Context, string) (string, error) {
		made++
		return token + strconv.Itoa(made), nil
	}
	_, err := Open(t.Context(), cfg, resolve)
	if fault.CodeOf(err) != failure.Auth || strings.Contains(err.Error(), "X-Amz") {
		t.Errorf("%v; want %s without the token", err, failure.Auth)
	}
	if made != 2 || len(heard) != 2 || <-heard != token+"1" || <-heard != token+"2" {
		t.Errorf("%d tokens were made, and are not those that came", made)
	}
	cfg.TLS.CAFile = "" // no system knows this server
	if _, err := Open(t.Context(), cfg, resolve); fault.CodeOf(err) != failure.TLS || len(heard) != 0 {
		t.Errorf("%v; %d passwords came to a server that is another", err, len(heard))
	}
}
