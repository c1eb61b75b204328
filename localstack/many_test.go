package localstack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// manyTable makes tables like that of the orders. No id is in two of them, so
// that a row in the wrong export is seen; every tenth has no row, and every
// tenth after it is larger than the others.
const manyTable = `do $$ begin for n in 0..%[2]d-1 loop
	execute format('create table %[1]s.%%I (id bigint primary key, note text, price numeric(20, 4), at timestamptz, paid boolean, raw bytea, ratio double precision, day date)', 'many_' || lpad(n::text, 4, '0'));
	execute format('insert into %[1]s.%%I select i, case when i %%%% 7 = 0 then null else ''order '' || i end, i / 3.0, timestamptz ''2026-01-01 00:00:00+00'' + i * interval ''1 second'',
		i %%%% 3 = 0, decode(lpad(to_hex(i), 16, ''0''), ''hex''), (i %%%% 1000) / 3.0, date ''2026-01-01'' + (i %%%% 400)::int
		from generate_series(%%s::bigint, %%s) i', 'many_' || lpad(n::text, 4, '0'), n * 1000000 + 1, n * 1000000 + case n %% 10 when 8 then 0 when 9 then 2000 else 100 end);
end loop; end $$`

func manyName(n int) string { return fmt.Sprintf("many_%04d", n) }

func manyPrefix(export string) string { return "many/" + export }

// makeMany makes so many small tables.
func (w *world) makeMany(tables int) {
	w.t.Helper()
	w.exec(fmt.Sprintf(manyTable, w.schema, tables))
}

// manyConfig exports them; the larger ones in several chunks.
func manyConfig(tables int) string {
	var b strings.Builder
	b.WriteString("source:\n  type: postgres\n  url: SOURCE\n  tls: { mode: disable }\nexports:\n")
	for n := range tables {
		mode := "mode: full"
		if n%10 == 9 {
			mode = "mode: chunked, chunk_column: id, chunk_count: 4"
		}
		fmt.Fprintf(&b, "  - { name: %[1]s, table: SCHEMA.%[1]s, %[2]s, format: parquet, destination: { type: s3, bucket: BUCKET, prefix: %[3]s } }\n",
			manyName(n), mode, manyPrefix(manyName(n)))
	}
	return b.String()
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
