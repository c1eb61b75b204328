// Package mysql reads MySQL 8 and MariaDB 10.6 and later. Layer: L2 (execution).
//
// A range of a table is one SELECT in one read-only REPEATABLE READ
// transaction, whose rows come in the binary protocol while the server reads
// them. The transaction locks the shape of what it reads before it takes its
// snapshot, so that a TRUNCATE or ALTER TABLE waits or comes first, and never
// shows an empty table. Keys, cursors and windows are compared by the server
// only: what is equal and what comes first is for its collations to say.
package mysql

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
)

// Engine is the engine's name in a plan and a manifest, of MariaDB as well.
const Engine = "mysql"

// Source is a session with a database.
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
	s.session.close()
	return nil
}

// Identity is the server's own identifier (server_uuid of MySQL, server_uid of
// MariaDB, which older ones lack) and the database's name. A replica has
// another one than its primary.
func (s *Source) Identity(ctx context.Context) (contract.SourceIdentity, error) {
	id := contract.SourceIdentity{Engine: Engine}
	err := s.transaction(ctx, "read the identity of the database", func() error {
		rows, err := s.session.query(ctx, "select database()")
		if err != nil {
			return err
		}
		id.Database = rows[0].text(0)
		rows, err = s.session.query(ctx, "show global variables where variable_name in ('server_uuid', 'server_uid')")
		if err == nil && len(rows) > 0 {
			id.SystemIdentifier = rows[0].text(1)
		}
		return err
	})
	return id, err
}

// idle refuses a call while a reader has the connection.
func (s *Source) idle() error {
	if s.reading != nil && !s.reading.closed {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_SOURCE_BUSY", "the source is asked for something while a reader of it is open")
	}
	return nil
}

// transaction runs do in one read-only transaction. what says in errors what
// was being done.
func (s *Source) transaction(ctx context.Context, what string, do func() error) error {
	if err := s.idle(); err != nil {
		return err
	}
	if err := s.session.begin(ctx); err != nil {
		return err
	}
	defer s.session.end(ctx)
	return s.session.explain(ctx, do(), what)
}
