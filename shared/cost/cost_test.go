package cost_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/cost"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

func list(t *testing.T) cost.Prices {
	t.Helper()
	p, err := cost.ListPrices()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func plan(tasks int, bytes, part int64) chunkplan.Plan {
	return chunkplan.Plan{Tasks: make([]keyspace.Range, tasks), EstimatedBytes: bytes, Export: exportconfig.Export{PartBytes: part}}
}

// The example of docs/cost.md, whose figures are worked out by hand.
func TestATerabyteInTenThousandTasks(t *testing.T) {
	got, known := cost.Of(plan(10_000, 1e12, 100e6), list(t))
	want := cost.Estimate{
		Prices: got.Prices, Currency: "USD",
		Seconds: 60_010, GBSeconds: 120_020,
		FunctionRequests: 10_003, TableWrites: 60_010, TableReads: 20_010, QueueRequests: 21_006, StoreWrites: 10_012, StoreReads: 20_012,
		Total: got.Total,
	}
	if !known || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if math.Abs(got.Total-1.70875) > 0.00001 || got.Requests() != 141_053 {
		t.Errorf("%.5f for %d requests, want 1.70875 for 141053", got.Total, got.Requests())
	}
}

func TestEveryPriceIsInTheSum(t *testing.T) {
	p := plan(100, 1e9, 64<<20)
	before, _ := cost.Of(p, list(t))
	for name, dearer := range map[string]func(*cost.Prices){
		"function_gb_second": func(p *cost.Prices) { p.FunctionGBSecond *= 2 },
		"function_request":   func(p *cost.Prices) { p.FunctionRequest *= 2 },
		"table_write":        func(p *cost.Prices) { p.TableWrite *= 2 },
		"table_read":         func(p *cost.Prices) { p.TableRead *= 2 },
		"queue_request":      func(p *cost.Prices) { p.QueueRequest *= 2 },
		"store_write":        func(p *cost.Prices) { p.StoreWrite *= 2 },
		"store_read":         func(p *cost.Prices) { p.StoreRead *= 2 },
		"function_gb":        func(p *cost.Prices) { p.FunctionGB *= 2 },
		"bytes_per_second":   func(p *cost.Prices) { p.BytesPerSecond /= 2 },
		"seconds_per_task":   func(p *cost.Prices) { p.SecondsPerTask *= 2 },
		"seconds_per_run":    func(p *cost.Prices) { p.SecondsPerRun *= 2 },
	} {
		prices := list(t)
		dearer(&prices)
		if after, _ := cost.Of(p, prices); after.Total <= before.Total {
			t.Errorf("%s is not in the sum: %v, then %v", name, before.Total, after.Total)
		}
	}
}

func TestPartsAreAtLeastOneATaskAndNoLargerThanTheyMayBe(t *testing.T) {
	for _, tc := range []struct {
		name        string
		tasks       int
		bytes, part int64
		parts       int64
	}{
		{"small tasks", 10, 1000, 1000, 10},
		{"large tasks", 2, 10_001, 1000, 11},
		{"a part of any size", 2, 10_001, 0, 2},
		{"nothing to read", 0, 0, 1000, 0},
	} {
		got, known := cost.Of(plan(tc.tasks, tc.bytes, tc.part), list(t))
		if parts := got.StoreWrites - 12; !known || parts != tc.parts {
			t.Errorf("%s: %d parts, want %d", tc.name, parts, tc.parts)
		}
	}
}

func TestASourceWithoutStatisticsHasNoEstimate(t *testing.T) {
	if got, known := cost.Of(plan(3, -1, 1000), list(t)); known {
		t.Errorf("got %+v of a size that nobody knows", got)
	}
}

func TestPriceTablesThatAreRefused(t *testing.T) {
	whole := `{"name":"n","currency":"EUR","function_gb_second":1,"function_request":1,"table_write":1,"table_read":1,"queue_request":1,"store_write":1,"store_read":1,"function_gb":1,"bytes_per_second":1,"seconds_per_task":1,"seconds_per_run":1}`
	if _, err := cost.ReadPrices([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, body, names string }{
		{"no JSON", "prices", "cannot be read"},
		{"a field that is not known", strings.Replace(whole, `"table_read"`, `"tabel_read"`, 1), "tabel_read"},
		{"a field that is missing", strings.Replace(whole, `"table_read":1,`, "", 1), "table_read"},
		{"a speed of nothing", strings.Replace(whole, `"bytes_per_second":1`, `"bytes_per_second":0`, 1), "bytes_per_second"},
		{"a negative price", strings.Replace(whole, `"store_read":1`, `"store_read":-1`, 1), "store_read"},
		{"two tables", whole + whole, "after its end"},
	} {
		if _, err := cost.ReadPrices([]byte(tc.body)); fault.CodeOf(err) != "LAPSTRAKE_CONFIG_PRICES" || !strings.Contains(err.Error(), tc.names) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
