package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// tlsLevels orders the modes. What asks for no TLS, or only prefers it, is 0:
// there is no falling back, so a preference would mean nothing (SEC-06).
var tlsLevels = map[string]int{"": 0, "disable": 0, "allow": 0, "prefer": 0, "require": 1, "verify-ca": 2, "verify-full": 3}

// tlsConfig returns how the connection to t is encrypted, nil for not at all.
// Where the tls block and the URL's sslmode differ, the stricter one holds.
// Without either, only this machine may be spoken to in plain text.
func (t target) tlsConfig(block exportconfig.TLS) (*tls.Config, error) {
	fromBlock, known := tlsLevels[block.Mode]
	fromURL, knownURL := tlsLevels[t.sslmode]
	if !known || !knownURL {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_MODE", "TLS mode %q or sslmode %q is not known: use disable, require, verify-ca or verify-full", block.Mode, t.sslmode)
	}
	level := max(fromBlock, fromURL)
	if level == 0 {
		if block.Mode == "" && !t.isLocal() {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED", "source host %s is not this machine and the config has no source.tls block: "+
				"nothing was sent. Add tls: {mode: verify-full}, with ca_file: if the server's certificate is from a private authority", t.host)
		}
		return nil, nil
	}
	caFile := block.CAFile
	if caFile == "" {
		caFile = t.rootCert
	}
	if level == 1 && caFile != "" {
		level = 2 // an authority was named: check it
	}
	if block.AcceptInvalidHostnames {
		level = min(level, 2)
	}
	if block.AcceptInvalidCerts {
		level = 1
	}
	c := &tls.Config{ServerName: t.host, MinVersion: tls.VersionTLS12}
	if caFile != "" && caFile != "system" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_TLS_CA_FILE", "source.tls.ca_file cannot be read")
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_CA_FILE", "source.tls.ca_file %s holds no PEM certificate", caFile)
		}
	}
	if level < 3 {
		c.InsecureSkipVerify = true
	}
	if level == 2 {
		c.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, c.RootCAs) }
	}
	return c, nil
}

// verifyChain checks who signed the certificate, and not whose name is in it.
func verifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server sent no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	if _, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}

// isLocal reports whether the host can only be this machine.
func (t target) isLocal() bool {
	if t.isSocket() || t.host == "localhost" {
		return true
	}
	ip := net.ParseIP(t.host)
	return ip != nil && ip.IsLoopback()
}

func (t target) isSocket() bool { return strings.HasPrefix(t.host, "/") }

// dialLocal refuses an address outside this machine: "localhost" is a name
// too, and names can be made to point anywhere.
func dialLocal(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && network != "unix" {
			if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
				return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED", "the source's host name leads to %s, which is not this machine: nothing was sent without TLS", host)
			}
		}
		return dial(ctx, network, address)
	}
}
