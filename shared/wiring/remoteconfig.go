package wiring

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// functionMaxValue is the default of tuning.max_value_mb in functions, whose
// memory is small: a larger value fails the run by name (§3.3).
const functionMaxValue = 16 << 20

// remoteConfigs loads the configs of triggers: s3://bucket/key, or file:///path
// for one that is packed with the function. An s3 URI may end in #etag; then
// another version of the object is refused, so that a trigger that was checked
// runs what was checked.
//
// A config has no folder in a bucket: query_file and relative paths are refused
// there.
type remoteConfigs struct {
	stores destination.Opener
}

// Load implements [planner.ConfigLoader].
func (r remoteConfigs) Load(ctx context.Context, uri string, params map[string]string) (exportconfig.Config, error) {
	env := exportconfig.Env{Params: params, LookupEnv: lookupPublic, MaxValueBytes: functionMaxValue}
	scheme, rest, _ := strings.Cut(uri, "://")
	switch scheme {
	case "s3":
		body, err := r.object(ctx, rest)
		if err != nil {
			return exportconfig.Config{}, err
		}
		return exportconfig.Parse(uri, body, env)
	case "file":
		return packedConfig(rest, env)
	case "":
		return exportconfig.Config{}, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_URI", "the trigger has no config_uri")
	}
	return exportconfig.Config{}, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_URI", "config_uri %q is neither s3://bucket/key nor file:///path", uri)
}

// object reads bucket/key or bucket/key#etag.
func (r remoteConfigs) object(ctx context.Context, rest string) ([]byte, error) {
	where, etag, pinned := strings.Cut(rest, "#")
	bucket, key, _ := strings.Cut(where, "/")
	if bucket == "" || key == "" {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_URI", "config_uri s3://%s is not s3://bucket/key", where)
	}
	store, err := r.stores.Open(ctx, wire.Location{Kind: "s3", URI: "s3://" + bucket})
	if err != nil {
		return nil, err
	}
	body, version, err := store.Get(ctx, key, exportconfig.MaxFileBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		return nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_UNREADABLE", "there is no config at s3://%s; nothing was started", where)
	case err != nil:
		return nil, fault.Wrap(err, fault.ClassOf(err), "LAPSTRAKE_CONFIG_UNREADABLE", "read the config s3://%s", where)
	case pinned && strings.Trim(etag, `"`) != string(version):
		return nil, fault.New(fault.Refused, "LAPSTRAKE_CONFIG_CHANGED", "the config s3://%s has the ETag %s, the trigger asks for %s; nothing was started. Trigger with the new ETag, or without one", where, version, etag)
	}
	return body, nil
}

// packedConfig reads a file of the function's package.
func packedConfig(path string, env exportconfig.Env) (exportconfig.Config, error) {
	if !filepath.IsAbs(path) {
		return exportconfig.Config{}, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_URI", "config_uri file://%s is not an absolute path, file:///path", path)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return exportconfig.Config{}, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_UNREADABLE", "read the config")
	}
	env.Dir = filepath.Dir(path)
	env.ReadFile = func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(env.Dir, filepath.FromSlash(name)))
	}
	return exportconfig.Parse(path, body, env)
}

// credentialVariables hold the function's own sign-in, which no config may put
// into a query or a prefix.
var credentialVariables = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}

func lookupPublic(name string) (string, bool) {
	if slices.Contains(credentialVariables, name) {
		return "", false
	}
	return os.LookupEnv(name)
}
