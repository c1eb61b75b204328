package postgres

import (
	"crypto/tls"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

func (t target) transport() transport.Target {
	return transport.Target{Host: t.host, Mode: t.sslmode, RootCert: t.rootCert}
}

// tlsConfig returns how the connection to t is encrypted, nil for not at all.
func (t target) tlsConfig(block exportconfig.TLS) (*tls.Config, error) {
	return transport.Config(t.transport(), block)
}

// isSocket reports whether the host is the folder of a Unix socket.
func (t target) isSocket() bool { return t.transport().Socket() }
