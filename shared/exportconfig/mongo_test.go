package exportconfig

import "testing"

func TestSettingsOfMongoDB(t *testing.T) {
	for _, tc := range []struct {
		name, block string
		want        Mongo
	}{
		{"none", "", Mongo{}},
		{"the defaults, spelt out", ", mongo: {json: relaxed, no_cursor_timeout: true, resume: false, page_size: 10}", Mongo{}},
		{"all others", ", mongo: {json: canonical, no_cursor_timeout: false, read_concern: server}", Mongo{Canonical: true, CursorTimeout: true, ReadConcern: "server"}},
		{"a snapshot or nothing", ", mongo: {read_concern: snapshot}", Mongo{ReadConcern: "snapshot"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := Parse("rivet.yaml", []byte("source: {type: mongo, url_env: U"+tc.block+"}\nexports:\n- {name: o, table: shop.orders-2026, mode: chunked, chunk_by_key: _id, format: csv, destination: {type: local, path: /out}}\n"), Env{})
			if err != nil || cfg.Source.Mongo != tc.want {
				t.Fatalf("%+v, %v", cfg.Source.Mongo, err)
			}
			if e := cfg.Exports[0]; e.Table != "shop.orders-2026" || e.ChunkByKey != "_id" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestAHostOfMongoDBHasItsPort(t *testing.T) {
	cfg, err := Parse("rivet.yaml", []byte("source: {type: mongo, host: localhost, user: u, database: d}\n"+export), Env{Dir: "/config"})
	if err != nil || cfg.Source.Port != 27017 {
		t.Errorf("port %d, %v", cfg.Source.Port, err)
	}
}
