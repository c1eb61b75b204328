package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAPlanSaysWhatItsRunCosts(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "create table counted as select i as id, repeat('x', 100) as note from generate_series(1, 20000) i; analyze counted; create table uncounted (id int)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", "source: {type: postgres, url_env: DATABASE_URL}\nexports:\n"+
		"- {name: counted, table: counted, format: csv, destination: {type: local, path: out/counted}}\n"+
		"- {name: uncounted, table: uncounted, format: csv, destination: {type: local, path: out/uncounted}}\n")
	prices := `{"name":"ours","currency":"EUR","function_gb_second":1,"function_request":1e-9,"table_write":1e-9,"table_read":1e-9,"queue_request":1e-9,"store_write":1e-9,"store_read":1e-9,"function_gb":1,"bytes_per_second":1e15,"seconds_per_task":1e-9,"seconds_per_run":7}`
	d.write(t, "prices.json", prices)

	var plans []struct {
		EstimatedBytes int64 `json:"estimated_bytes"`
		Tasks          []any
		Cost           *struct {
			Currency  string
			Total     float64
			GBSeconds float64 `json:"gb_seconds"`
		}
	}
	o := d.must(t, "plan", "--json", "--prices", "prices.json")
	if err := json.Unmarshal([]byte(o.stdout), &plans); err != nil || len(plans) != 2 {
		t.Fatal(err, o)
	}
	counted, uncounted := plans[0], plans[1]
	if c := counted.Cost; c == nil || c.Currency != "EUR" || c.Total < 7 || c.Total > 7.01 || len(counted.Tasks) == 0 {
		t.Errorf("a table of %d bytes costs %+v, want 7 EUR and a little", counted.EstimatedBytes, c)
	}
	if uncounted.EstimatedBytes < 0 && uncounted.Cost != nil {
		t.Errorf("a table of a size that nobody knows costs %+v", uncounted.Cost)
	}
	if o := d.must(t, "plan", "-e", "counted"); !strings.Contains(o.stdout, "USD on functions: 2") || !strings.Contains(o.stdout, "GB-seconds") {
		t.Errorf("no price in\n%s", o.stdout)
	}
	d.write(t, "prices.json", strings.Replace(prices, `"currency":"EUR",`, "", 1))
	if o := d.run(t, "plan", "--prices", "prices.json"); o.code == 0 || !strings.Contains(o.stderr, "LAPSTRAKE_CONFIG_PRICES") || !strings.Contains(o.stderr, "currency") {
		t.Errorf("a price table without a currency: %s", o)
	}
}
