// Package postgres reads PostgreSQL 12 and later. Layer: L2 (execution).
//
// A range of a table is one COPY … TO STDOUT (FORMAT binary) in one read-only
// REPEATABLE READ transaction, decoded straight into columns. Everything is
// set with SET LOCAL and nothing is prepared under a name, so it works through
// a pooler in transaction mode and leaves nothing behind for its next client
// (OPS-07, OPS-08).
package postgres

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
)

// Engine is the engine's name in a plan and a manifest.
const Engine = "postgres"

// Source is a session with a PostgreSQL database.
type Source struct {
	session session
	reading *reader // the open one, or nil
}

var _ source.Source = (*Source)(nil)

// Open connects to the database of cfg.
func Open(ctx context.Context, cfg exportconfig.Source, resolve endpoint.Resolve) (*Source, error) {
	s := &Source{session: session{cfg: cfg, resolve: resolve}}
	if err := s.session.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the session, and an open reader with it.
func (s *Source) Close(ctx context.Context) error {
	if s.reading != nil {
		_ = s.reading.Close(ctx)
	}
	s.session.close(ctx)
	return nil
}

// Identity is the cluster's system identifier and the database's name. A
// primary and its replicas have the same one. A server that does not let the
// user see the identifier leaves it empty.
func (s *Source) Identity(ctx context.Context) (contract.SourceIdentity, error) {
	if err := s.idle(); err != nil {
		return contract.SourceIdentity{}, err
	}
	id := contract.SourceIdentity{Engine: Engine}
	err := s.session.transaction(ctx, "read the identity of the database", func() error {
		rows, err := s.session.query(ctx, "select pg_catalog.current_database()")
		if err != nil {
			return err
		}
		id.Database = rows[0].text(0)
		rows, err = s.session.try(ctx, "select system_identifier from pg_catalog.pg_control_system()")
		if err == nil && rows != nil {
			id.SystemIdentifier = rows[0].text(0)
		}
		return err
	})
	return id, err
}
