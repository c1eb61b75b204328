// Package transport says how a connection to a database is encrypted, by one
// rule for every engine. Layer: L2 (execution).
package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// levels orders the modes. What asks for no TLS, or only prefers it, is 0:
// there is no falling back, so a preference would mean nothing (SEC-06).
var levels = map[string]int{"": 0, "disable": 0, "allow": 0, "prefer": 0, "require": 1, "verify-ca": 2, "verify-full": 3}

// Target is what a connection's encryption depends on.
type Target struct {
	// Host is a name, an address, or the folder or file of a Unix socket.
	Host string
	// Mode is that of the URL, one of disable, allow, prefer, require, verify-ca,
	// verify-full and "".
	Mode string
	// RootCert is the file of certificates that the URL names, "" for none.
	RootCert string
}

// Config returns how the connection is encrypted, nil for not at all. Where the
// tls block and the URL's mode differ, the stricter one holds. Without either,
// only this machine may be spoken to in plain text.
func Config(t Target, block exportconfig.TLS) (*tls.Config, error) {
	fromBlock, known := levels[block.Mode]
	fromURL, knownURL := levels[t.Mode]
	if !known || !knownURL {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_MODE", "TLS mode %q or sslmode %q is not known: use disable, require, verify-ca or verify-full", block.Mode, t.Mode)
	}
	level := max(fromBlock, fromURL)
	if level == 0 {
		if block.Mode == "" && !t.Local() {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED", "source host %s is not this machine and the config has no source.tls block: "+
				"nothing was sent. Add tls: {mode: verify-full}, with ca_file: if the server's certificate is from a private authority", t.Host)
		}
		return nil, nil
	}
	caFile := block.CAFile
	if caFile == "" {
		caFile = t.RootCert
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
	c := &tls.Config{ServerName: t.Host, MinVersion: tls.VersionTLS12}
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

// Local reports whether the host can only be this machine.
func (t Target) Local() bool {
	if t.Socket() || t.Host == "localhost" {
		return true
	}
	ip := net.ParseIP(t.Host)
	return ip != nil && ip.IsLoopback()
}

// Socket reports whether the host is a Unix socket.
func (t Target) Socket() bool { return strings.HasPrefix(t.Host, "/") }

// Dial opens a network connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// DialLocal refuses an address outside this machine: "localhost" is a name
// too, and names can be made to point anywhere. resolve looks names up for a
// dial that is given a name; nil is for one that is given addresses only.
func DialLocal(dial Dial, resolve func(ctx context.Context, host string) ([]string, error)) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil || network == "unix" {
			return dial(ctx, network, address)
		}
		addresses := []string{host}
		if resolve != nil && net.ParseIP(host) == nil {
			if addresses, err = resolve(ctx, host); err != nil {
				return nil, err
			}
		}
		err = errors.New("the host name has no address")
		for _, a := range addresses {
			if ip := net.ParseIP(a); ip == nil || !ip.IsLoopback() {
				return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TLS_REQUIRED", "the source's host name leads to %s, which is not this machine: nothing was sent without TLS", a)
			}
			var conn net.Conn
			if conn, err = dial(ctx, network, net.JoinHostPort(a, port)); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}
