package e2e

import (
	"slices"
	"testing"
)

const fractionalKey, keyNotUnique, tooManyTasks = "LAPSTRAKE_PLAN_KEY_TYPE", "LAPSTRAKE_PLAN_KEY_NOT_UNIQUE", "LAPSTRAKE_PLAN_TOO_MANY_TASKS"

func TestHazardsOfKeysInPostgreSQL(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, `
		CREATE TABLE blank (k int, v text); INSERT INTO blank SELECT i, 'v' FROM generate_series(1, 5) i; INSERT INTO blank VALUES (NULL, 'n1'), (NULL, 'n2');
		CREATE TABLE real_key (k double precision PRIMARY KEY); INSERT INTO real_key VALUES (1), (1.5), (2), (2.25), (3), (2.999);
		CREATE TABLE cent_key (k numeric(8,2) PRIMARY KEY); INSERT INTO cent_key VALUES (0.99), (1.00), (1.01), (2.50);
		CREATE TABLE far (id bigint PRIMARY KEY); INSERT INTO far VALUES (1), (2), (3), (3900000000000000000);
		CREATE TABLE ends (id bigint PRIMARY KEY); INSERT INTO ends VALUES (-9223372036854775808), (-1), (0), (9223372036854775807);
		CREATE TABLE nothing (id int PRIMARY KEY, at timestamptz);
		CREATE TABLE single (id int PRIMARY KEY); INSERT INTO single VALUES (42);
		CREATE TABLE around (id int PRIMARY KEY); INSERT INTO around SELECT generate_series(-7, 7);
		CREATE TABLE words (id text COLLATE "en-x-icu" PRIMARY KEY); INSERT INTO words VALUES ('a1'), ('B1'), ('b1'), ('C1'), ('a-1'), ('é'), ('e'), (''), ('Z');
		CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE TABLE folded (id text COLLATE no_case PRIMARY KEY); INSERT INTO folded VALUES ('a'), ('B'), ('c'), ('D'), ('É'), ('e'), ('_'), ('10'), ('9');
		CREATE TABLE guids (id uuid PRIMARY KEY); INSERT INTO guids VALUES ('ffffffff-0000-0000-0000-000000000001'), ('00000000-0000-0000-0000-000000000002'), ('80000000-0000-0000-0000-000000000003'), ('7fffffff-ffff-ffff-ffff-ffffffffffff');
		CREATE TABLE pair (shop int, id int, PRIMARY KEY (shop, id)); INSERT INTO pair SELECT 1, i FROM generate_series(1, 6) i; INSERT INTO pair VALUES (2, 1), (3, 1);
		CREATE TABLE back (shop int, id int, word text, PRIMARY KEY (id, word, shop)); INSERT INTO back VALUES (1, 1, 'x'), (1, 1, 'X'), (2, 1, 'x'), (1, 2, ''), (2, 2, '');
		CREATE TABLE gaps (k int UNIQUE, v text); INSERT INTO gaps VALUES (1, 'a'), (2, 'b'), (NULL, 'c'), (NULL, 'd');
		CREATE TABLE twins (z int NOT NULL UNIQUE, a int NOT NULL UNIQUE); INSERT INTO twins VALUES (300, 1), (100, 2), (200, 3);
		CREATE TABLE heap (a int, b text); INSERT INTO heap VALUES (1, 'x'), (1, 'x'), (2, 'y');
		CREATE TABLE halves (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
		CREATE TABLE halves_1 PARTITION OF halves FOR VALUES FROM ('2023-01-01') TO ('2024-01-01'); CREATE TABLE halves_rest PARTITION OF halves DEFAULT;
		INSERT INTO halves VALUES (1, '2023-06-01'), (2, '2024-06-01'), (3, '2030-01-01'), (1, '2024-01-01');
		CREATE VIEW seen AS SELECT id, day FROM halves WHERE day < '2025-01-01'; CREATE MATERIALIZED VIEW kept AS SELECT id FROM halves;
		CREATE TABLE same (id int PRIMARY KEY, c int NOT NULL); INSERT INTO same SELECT i, CASE WHEN i BETWEEN 3 AND 7 THEN 5 ELSE i END FROM generate_series(1, 9) i;
		ANALYZE;
		CREATE TABLE unseen (id int PRIMARY KEY); INSERT INTO unseen SELECT generate_series(1, 9)`)
	pairs := []string{"1|1", "1|2", "1|3", "1|4", "1|5", "1|6", "2|1", "3|1"}
	reals := []string{"1", "1.5", "2", "2.25", "3", "2.999"}
	cents := []string{"0.99", "1.00", "1.01", "2.50"}
	halves := []string{"1|2023-06-01", "2|2024-06-01", "3|2030-01-01", "1|2024-01-01"}
	runHazards(t, "type: postgres", db.url, []hazard{
		{"PLN-01 rows whose key is NULL", "table: public.blank", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE", "mode: chunked, chunk_by_key: k, chunk_size: SIZE -> " + keyNotUnique},
			[]string{"1|v", "2|v", "3|v", "4|v", "5|v", "|n1", "|n2"}},
		{"PLN-01 rows of a query whose key is NULL", `query: "SELECT * FROM blank"`, []string{"mode: chunked, chunk_column: k, chunk_size: SIZE"},
			[]string{"1|v", "2|v", "3|v", "4|v", "5|v", "|n1", "|n2"}},
		{"PLN-02 a float as key", "table: public.real_key", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey, "mode: chunked, chunk_by_key: k, chunk_size: SIZE", "mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: k"}, reals},
		{"PLN-02 a float of a query as key", `query: "SELECT k FROM real_key"`, []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey, "mode: full"}, reals},
		{"PLN-02 a decimal as key", "table: public.cent_key", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey, "mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: k"}, cents},
		{"PLN-03 a key with a gap", "table: public.far", []string{"mode: chunked, chunk_size: SIZE -> " + tooManyTasks, "mode: chunked, chunk_count: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE"},
			[]string{"1", "2", "3", "3900000000000000000"}},
		{"PLN-03 a key from the least to the greatest number", "table: public.ends", []string{"mode: chunked, chunk_size: SIZE -> " + tooManyTasks, "mode: chunked, chunk_count: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id"},
			[]string{"-9223372036854775808", "-1", "0", "9223372036854775807"}},
		{"PLN-04 an empty table", "table: public.nothing", slices.Concat(everyKey, []string{"mode: time_window, time_column: at, days_window: 3", "mode: incremental, cursor_column: at"}), nil},
		{"PLN-05 one row", "table: public.single", everyKey, []string{"42"}},
		{"PLN-06 keys around 0", "table: public.around", everyKey, numbered(-7, 7)},
		{"PLN-08 a key in the order of a language", "table: public.words", []string{"mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id", "mode: full"},
			[]string{"a1", "B1", "b1", "C1", "a-1", "é", "e", "", "Z"}},
		{"PLN-07 a key that ignores case", "table: public.folded", []string{"mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: full"}, []string{"a", "B", "c", "D", "É", "e", "_", "10", "9"}},
		{"PLN-09 a uuid as key", "table: public.guids", []string{"mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id"},
			[]string{"ffffffff-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002", "80000000-0000-0000-0000-000000000003", "7fffffff-ffff-ffff-ffff-ffffffffffff"}},
		{"PLN-12 a key of two columns", "table: public.pair", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_by_key: shop, chunk_size: SIZE", "mode: chunked, chunk_column: shop, chunk_size: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE -> " + keyNotUnique, "mode: incremental, cursor_column: id", "mode: incremental, cursor_column: shop"}, pairs},
		{"PLN-12 a key in another order than the columns", "table: public.back", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: shop, chunk_size: SIZE", "mode: incremental, cursor_column: shop", "mode: incremental, cursor_column: word"},
			[]string{"1|1|x", "1|1|X", "2|1|x", "1|2|", "2|2|"}},
		{"PLN-13 a unique key with NULLs", "table: public.gaps", []string{"mode: chunked, chunk_by_key: k, chunk_size: SIZE -> " + keyNotUnique, "mode: chunked, chunk_column: k, chunk_size: SIZE", "mode: chunked, chunk_size: SIZE", "mode: full"}, []string{"1|a", "2|b", "|c", "|d"}},
		{"PLN-14 two keys", "table: public.twins", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_by_key: z, chunk_size: SIZE", "mode: chunked, chunk_by_key: a, chunk_size: SIZE"}, []string{"300|1", "100|2", "200|3"}},
		{"PLN-15 no key", "table: public.heap", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: a, chunk_size: SIZE", "mode: incremental, cursor_column: a"}, []string{"1|x", "1|x", "2|y"}},
		{"PLN-16 a table that was never analysed", "table: public.unseen", everyKey, numbered(1, 9)},
		{"PLN-20 a partitioned table", "table: public.halves", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: id, chunk_size: SIZE", "mode: incremental, cursor_column: day", "mode: incremental, cursor_column: id"}, halves},
		{"PLN-21 a view", "table: public.seen", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: id, chunk_size: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE -> " + keyNotUnique}, []string{"1|2023-06-01", "2|2024-06-01", "1|2024-01-01"}},
		{"PLN-21 a materialized view", "table: public.kept", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: id, chunk_size: SIZE"}, []string{"1", "2", "3", "1"}},
		{"CUR-01 equal cursors at the end of a batch", "table: public.same", []string{"mode: incremental, cursor_column: c", "mode: chunked, chunk_column: c, chunk_size: SIZE"},
			[]string{"1|1", "2|2", "3|5", "4|5", "5|5", "6|5", "7|5", "8|8", "9|9"}},
	})
}
