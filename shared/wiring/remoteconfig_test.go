package wiring

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const smallConfig = `
source: { type: postgres, url: "secretsmanager://shop/database" }
exports:
  - name: orders
    query: select id from ${TABLE}
    mode: full
    format: parquet
    destination: { type: s3, bucket: lake, prefix: orders }
`

func TestConfigsOfTriggers(t *testing.T) {
	t.Setenv("TABLE", "orders")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not for configs")
	bucket := memory.New("s3://cfg", destination.Capabilities{})
	put := func(key, body string) string {
		v, err := bucket.Create(t.Context(), key, []byte(body), destination.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	etag := put("shop/rivet.yaml", smallConfig)
	put("file.yaml", "source: { type: postgres, url_env: U }\nexports:\n  - name: a\n    query_file: a.sql\n    mode: full\n    format: csv\n    destination: { type: s3, bucket: lake }\n")
	put("steal.yaml", "source: { type: postgres, url_env: U }\nexports:\n  - name: a\n    query: select '${AWS_SECRET_ACCESS_KEY}'\n    mode: full\n    format: csv\n    destination: { type: s3, bucket: lake }\n")
	packed := filepath.Join(t.TempDir(), "rivet.yaml")
	if err := os.WriteFile(packed, []byte(smallConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	configs := remoteConfigs{stores: destination.OpenerFunc(func(_ context.Context, at wire.Location) (destination.Store, error) {
		if at.URI != "s3://cfg" {
			return nil, &destination.OpError{Op: "open", Store: at.URI, Err: destination.ErrNoBucket}
		}
		return bucket, nil
	})}
	for _, tc := range []struct {
		name string
		uri  string
		want fault.Code // "" for a config
	}{
		{"an object", "s3://cfg/shop/rivet.yaml", ""},
		{"an object at the version that was checked", "s3://cfg/shop/rivet.yaml#" + etag, ""},
		{"the version in quotes", `s3://cfg/shop/rivet.yaml#"` + etag + `"`, ""},
		{"an object that has changed since", "s3://cfg/shop/rivet.yaml#0123", "LAPSTRAKE_CONFIG_CHANGED"},
		{"no object", "s3://cfg/none.yaml", "LAPSTRAKE_CONFIG_UNREADABLE"},
		{"no key", "s3://cfg", "LAPSTRAKE_CONFIG_URI"},
		{"a file in the package", "file://" + packed, ""},
		{"a relative file", "file://rivet.yaml", "LAPSTRAKE_CONFIG_URI"},
		{"no file", "file:///none/rivet.yaml", "LAPSTRAKE_CONFIG_UNREADABLE"},
		{"another scheme", "https://example.com/rivet.yaml", "LAPSTRAKE_CONFIG_URI"},
		{"nothing", "", "LAPSTRAKE_CONFIG_URI"},
		{"a query file has no folder in a bucket", "s3://cfg/file.yaml", exportconfig.CodeInvalid},
		{"the function's own credentials are no variables", "s3://cfg/steal.yaml", "LAPSTRAKE_CONFIG_VARIABLE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := configs.Load(t.Context(), tc.uri, nil)
			if code := fault.CodeOf(err); code != tc.want {
				t.Fatalf("%s: %v (%s), want %q", tc.uri, err, code, tc.want)
			}
			if tc.want != "" {
				return
			}
			e := cfg.Exports[0]
			if e.Name != "orders" || e.Query != "select id from orders" || e.MaxValueBytes != 16<<20 {
				t.Errorf("got %q, query %q, values of at most %d bytes", e.Name, e.Query, e.MaxValueBytes)
			}
		})
	}
}
