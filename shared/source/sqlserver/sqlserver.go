// Package sqlserver reads SQL Server 2016 and later, and Azure SQL. Layer: L2
// (execution).
//
// A range of a table is one SELECT in one transaction: under SNAPSHOT isolation
// where the database allows it, else under READ COMMITTED, which the plan says.
// Keys, cursors and windows are compared by the server only: what is equal and
// what comes first is for its collations, and for its own order of a
// uniqueidentifier, to say.
package sqlserver

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
)

// Engine is the engine's name in a config, a plan and a manifest.
const Engine = "mssql"

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

// Identity is the server's name with the identifier that the database was made
// with, and the database's name. A copy on another server, and a replica, has
// another one.
func (s *Source) Identity(ctx context.Context) (contract.SourceIdentity, error) {
	id := contract.SourceIdentity{Engine: Engine}
	err := s.transaction(ctx, "read the identity of the database", func() error {
		rows, err := s.session.query(ctx, identityStatement)
		if err == nil && len(rows) == 1 {
			id.Database, id.SystemIdentifier = rows[0].text(0), rows[0].text(1)+"/"+rows[0].text(2)
		}
		return err
	})
	return id, err
}

const identityStatement = "select convert(nvarchar(128), db_name()), convert(nvarchar(128), serverproperty('ServerName')), convert(nvarchar(36), service_broker_guid) from sys.databases where database_id = db_id()"

// idle refuses a call while a reader has the connection.
func (s *Source) idle() error {
	if s.reading != nil && !s.reading.closed {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_SOURCE_BUSY", "the source is asked for something while a reader of it is open")
	}
	return nil
}

// transaction runs do in one transaction, which is rolled back. what says in
// errors what was being done.
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

// inspect runs do in one transaction with a relation and its columns, which are
// not mapped.
func (s *Source) inspect(ctx context.Context, what string, rel source.Relation, do func(r relation, columns []column) error) error {
	return s.transaction(ctx, what+" of "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		return do(r, columns)
	})
}
