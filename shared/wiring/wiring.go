// Package wiring puts the parts together: it is the only importer of drivers.
// Layer: wiring.
package wiring

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/localdir"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/csv"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet"
	"github.com/lapstrake/lapstrake/shared/secrets"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/mongodb"
	"github.com/lapstrake/lapstrake/shared/source/mysql"
	"github.com/lapstrake/lapstrake/shared/source/postgres"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Destinations opens every kind of store that this version writes to. A store
// that conditional writes cannot be trusted on is refused: the first opening of
// a bucket in this process looks (architecture §9.3).
func Destinations() destination.Opener { return &destinations{probe: true} }

// ReadOnlyDestinations opens the same stores without looking, for those that
// write nothing and may not be allowed to.
func ReadOnlyDestinations() destination.Opener { return &destinations{} }

// Formats are the part formats by the config's name.
func Formats() map[string]partfile.Format {
	return map[string]partfile.Format{"parquet": parquet.Format, "csv": csv.Format}
}

// Sources opens every kind of source that this version reads. Secrets are
// resolved for every connection. A secret that is asked for again by one source
// was refused by the database: then it is read anew, as it may have been
// rotated since it was kept (SEC-08).
func Sources(r *secrets.Resolver) source.Opener {
	return source.OpenerFunc(func(ctx context.Context, cfg exportconfig.Source) (source.Source, error) {
		switch cfg.Type {
		case postgres.Engine:
			return postgres.Open(ctx, cfg, rereading(r))
		case mysql.Engine:
			return mysql.Open(ctx, cfg, rereading(r))
		case sqlserver.Engine:
			return sqlserver.Open(ctx, cfg, rereading(r))
		case mongodb.Engine:
			return mongodb.Open(ctx, cfg, rereading(r))
		}
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_UNSUPPORTED", "source type %q is not supported by this version", cfg.Type)
	})
}

// rereading resolves references and forgets what was kept when one is asked for
// again.
func rereading(r *secrets.Resolver) endpoint.Resolve {
	asked := map[string]bool{}
	return func(ctx context.Context, ref string) (string, error) {
		if asked[ref] {
			r.Forget()
		}
		asked[ref] = true
		return r.Resolve(ctx, ref)
	}
}

// LoadConfigFile reads a config from disk. Exports without a problem come with
// the error, see exportconfig.Concerning.
func LoadConfigFile(path string, params map[string]string) (exportconfig.Config, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return exportconfig.Config{}, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_UNREADABLE", "read the config")
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return exportconfig.Config{}, err
	}
	return exportconfig.Parse(path, body, exportconfig.Env{
		Dir: dir, Params: params, LookupEnv: os.LookupEnv,
		ReadFile: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) },
	})
}

// LocationOf turns a folder or an s3:// URI of the command line into a location.
func LocationOf(s string) (wire.Location, error) {
	if strings.HasPrefix(s, "s3://") {
		return wire.Location{Kind: "s3", URI: strings.TrimSuffix(s, "/")}, nil
	}
	if scheme, _, found := strings.Cut(s, "://"); found && scheme != "file" {
		return wire.Location{}, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "%s:// is no destination of this version", scheme)
	}
	dir, err := filepath.Abs(strings.TrimPrefix(s, "file://"))
	if err != nil {
		return wire.Location{}, err
	}
	return wire.Location{Kind: "local", URI: "file://" + dir}, nil
}

// Now is the system clock's time, for mains.
func Now() time.Time { return clock.System{}.Now() }

// LocalOptions say how the embedded runtime is put together.
type LocalOptions struct {
	// State is a file, or dynamodb://TABLE. "" is no table: nothing can be run.
	State  string
	Log    *slog.Logger
	Worker string
}

// OpenLocal puts the embedded runtime together. close lets go of its table.
func OpenLocal(ctx context.Context, cfg exportconfig.Config, o LocalOptions) (local *Local, close func() error, err error) {
	settings, err := SettingsFromEnv(os.LookupEnv)
	if err != nil {
		return nil, nil, err
	}
	resolver, err := newResolver(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, inline := range []string{cfg.Source.Inline.URL, cfg.Source.Inline.Password} {
		telemetry.Hide(inline)
	}
	l := &Local{
		Config: cfg, Destinations: Destinations(), Sources: Sources(resolver), Formats: Formats(), Notifier: notify.Nop{},
		Clock: clock.System{}, IDs: IDs{}, Log: o.Log, Worker: o.Worker,
		Lease: settings.Lease, Heartbeat: settings.Heartbeat, Sweep: settings.Sweep,
	}
	if cfg.Slack != nil {
		if l.Notifier, err = slackNotifier(ctx, *cfg.Slack, resolver); err != nil {
			return nil, nil, err
		}
	}
	close = func() error { return nil }
	if o.State != "" {
		if l.State, close, err = openState(ctx, o.State, l.Clock, l.IDs); err != nil {
			return nil, nil, err
		}
	}
	return l, close, nil
}

// destinations opens stores by kind and keeps them: a bucket is probed once.
type destinations struct {
	probe  bool
	opened cache[wire.Location, destination.Store]
}

// Open implements [destination.Opener].
func (d *destinations) Open(ctx context.Context, at wire.Location) (destination.Store, error) {
	return d.opened.get(at, func() (destination.Store, error) {
		switch at.Kind {
		case "local":
			return localdir.Open(ctx, at)
		case "s3":
			o := s3.Options{Clock: clock.System{}, IDs: IDs{}}
			if d.probe {
				o.ProbeIn = contract.ControlDir
			}
			return s3.Open(ctx, at, o)
		}
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_UNSUPPORTED", "destination type %q is not supported by this version", at.Kind)
	})
}
