package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lapstrake/lapstrake/shared/clock"
)

// createLineItem makes TPC-H's largest table, with sixteen columns whose values
// are spread as there.
const createLineItem = `CREATE UNLOGGED TABLE lineitem (
	l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
	l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL,
	l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
	l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL);
INSERT INTO lineitem SELECT (i + 3) / 4, 1 + i * 7919 %% 200000, 1 + i * 104729 %% 10000, 1 + (i + 3) %% 4,
	1 + i * 31 %% 50, (90000 + i * 7919 %% 200000 / 10 + i %% 1000 * 100) * (1 + i * 31 %% 50) / 100.0, i * 13 %% 11 / 100.0, i * 17 %% 9 / 100.0,
	(array['N', 'R', 'A'])[1 + i %% 3], (array['O', 'F'])[1 + i %% 2],
	date '1992-01-01' + (i * 37 %% 2500)::int, date '1992-02-01' + (i * 41 %% 2500)::int, date '1992-01-15' + (i * 37 %% 2500)::int,
	(array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])[1 + i %% 4], (array['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])[1 + i %% 7],
	substr(md5(i::text) || md5((i + 1)::text), 1, (10 + i %% 34)::int)
	FROM generate_series(1, %d::bigint) i;
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber); ANALYZE lineitem`

// memory is what one worker may take, whatever the size of the table.
const memory = 512 << 20

// One worker's memory is bounded, and what it has read is the table. With
// LAPSTRAKE_E2E_FULL=1 the table has six million rows instead of 600,000 (OPS-16).
func TestOneWorkerReadsALargeTableInBoundedMemory(t *testing.T) {
	rows := 600_000
	if os.Getenv("LAPSTRAKE_E2E_FULL") != "" {
		rows *= 10
	}
	db := newDatabase(t)
	db.exec(t, fmt.Sprintf(createLineItem, rows))
	for _, tc := range []struct{ name, mode string }{
		{"as one task", "mode: full"},
		{"by ranges", "mode: chunked, chunk_column: l_orderkey"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t)
			d.env["DATABASE_URL"] = db.url
			d.write(t, "rivet.yaml", "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: lineitem, table: public.lineitem, "+tc.mode+
				", format: parquet, destination: { type: local, path: out } }\n")
			begun := clock.System{}.Now()
			o := d.must(t, "run", "--workers", "1")
			took := clock.System{}.Now().Sub(begun)
			t.Logf("%d rows in %.1fs, %.0f rows/s; %.1f CPU-seconds, %.0f rows per CPU-second; at most %d MiB",
				rows, took.Seconds(), float64(rows)/took.Seconds(), o.cpu.Seconds(), float64(rows)/o.cpu.Seconds(), o.peak>>20)
			if o.peak > memory {
				t.Errorf("it took %d MiB, %d are allowed", o.peak>>20, memory>>20)
			}
			p := published(t, inFolder(t, filepath.Join(d.dir, "out")))
			if p.manifest.RowCount != int64(rows) {
				t.Errorf("%d rows are published", p.manifest.RowCount)
			}
			sum := db.texts(t, "SELECT sum(l_extendedprice)::text || ' ' || sum(l_orderkey)::text FROM lineitem")[0]
			if got := p.query(t, "SELECT sum(l_extendedprice)::VARCHAR || ' ' || sum(l_orderkey)::VARCHAR FROM parts"); got != sum {
				t.Errorf("the sums are %s, in the source %s", got, sum)
			}
		})
	}
}
