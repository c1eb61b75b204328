package e2e

import (
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

func TestHazardsOfKeysInMariaDB(t *testing.T) {
	at, db := mysqlDatabase(t, testenv.MariaDBURL)
	if _, err := db.ExecContext(t.Context(), `
		create table blank (k int, v varchar(5)); insert into blank values (1, 'v'), (2, 'v'), (3, 'v'), (null, 'n1'), (null, 'n2');
		create table real_key (k double primary key); insert into real_key values (1), (1.5), (2), (2.25), (3), (2.999);
		create table cent_key (k decimal(8,2) primary key); insert into cent_key values (0.99), (1.00), (1.01), (2.50);
		create table far (id bigint primary key); insert into far values (1), (2), (3), (3900000000000000000);
		create table wide (id bigint unsigned primary key); insert into wide values (1), (9223372036854775807), (9223372036854775808), (18446744073709551614), (18446744073709551615);
		create table nothing (id int primary key, at datetime);
		create table single (id int primary key); insert into single values (42);
		create table around (id int primary key); insert into around select cast(seq as signed) - 7 from seq_0_to_14;
		create table folded (id varchar(20) collate utf8mb4_general_ci primary key); insert into folded values ('0000'), ('1111'), ('aaaa'), ('bbbb'), ('ZZZZ'), ('éclair'), ('_under'), ('Cccc'), ('');
		create table padded (id varchar(20) collate utf8mb4_nopad_bin primary key); insert into padded values ('a'), ('a '), ('a  '), (''), (' '), ('B');
		create table pair (shop int, id int, primary key (shop, id)); insert into pair select 1, cast(seq as signed) from seq_1_to_6; insert into pair values (2, 1), (3, 1);
		create table back (shop int, id int, word varchar(5) collate utf8mb4_general_ci, primary key (id, word, shop)); insert into back values (1, 1, 'x'), (1, 1, 'Y'), (2, 1, 'X'), (1, 2, ''), (2, 2, '');
		create table gaps (k int unique, v char(1)); insert into gaps values (1, 'a'), (2, 'b'), (null, 'c'), (null, 'd');
		create table twins (z int not null, a int not null, unique key z_first (z), unique key a_second (a)); insert into twins values (300, 1), (100, 2), (200, 3);
		create table heap (a int, b char(1)); insert into heap values (1, 'x'), (1, 'x'), (2, 'y');
		create table halves (id int, day date, primary key (id, day)) partition by range columns (day) (partition one values less than ('2024-01-01'), partition two values less than (maxvalue));
		insert into halves values (1, '2023-06-01'), (2, '2024-06-01'), (3, '2030-01-01'), (1, '2024-01-01');
		create view seen as select id, day from halves where day < '2025-01-01';
		create table same (id int primary key, c datetime(6) not null); insert into same select seq, '2024-01-01 00:00:00.000001' + interval if(seq between 3 and 7, 5, seq) microsecond from seq_1_to_9;
		analyze table blank, real_key, cent_key, far, wide, nothing, single, around, folded, padded, pair, back, gaps, twins, heap, halves, same`); err != nil {
		t.Fatal(err)
	}
	byKey := []string{"mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id"}
	reals := []string{"1", "1.5", "2", "2.25", "3", "2.999"}
	runHazards(t, "type: mysql", at, []hazard{
		{"PLN-01 rows whose key is NULL", "table: blank", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE"}, []string{"1|v", "2|v", "3|v", "|n1", "|n2"}},
		{"PLN-02 a float as key", "table: real_key", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey, "mode: chunked, chunk_size: SIZE"}, reals},
		{"PLN-02 a float of a query as key", `query: "select k from real_key"`, []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey}, reals},
		{"PLN-02 a decimal as key", "table: cent_key", []string{"mode: chunked, chunk_column: k, chunk_size: SIZE -> " + fractionalKey, "mode: incremental, cursor_column: k"}, []string{"0.99", "1.00", "1.01", "2.50"}},
		{"PLN-03 a key with a gap", "table: far", []string{"mode: chunked, chunk_size: SIZE -> " + tooManyTasks, "mode: chunked, chunk_by_key: id, chunk_size: SIZE"}, []string{"1", "2", "3", "3900000000000000000"}},
		{"PLN-04 an empty table", "table: nothing", slices.Concat(everyKey, []string{"mode: time_window, time_column: at, days_window: 3"}), nil},
		{"PLN-05 one row", "table: single", everyKey, []string{"42"}},
		{"PLN-06 keys around 0", "table: around", everyKey, numbered(-7, 7)},
		{"PLN-07 a key that ignores case", "table: folded", byKey, []string{"0000", "1111", "aaaa", "bbbb", "ZZZZ", "éclair", "_under", "Cccc", ""}},
		{"PLN-07 a key that does not pad", "table: padded", byKey, []string{"a", "a ", "a  ", "", " ", "B"}},
		{"PLN-10 an unsigned key above 63 bits", "table: wide", []string{"mode: chunked, chunk_count: SIZE", "mode: chunked, chunk_by_key: id, chunk_size: SIZE", "mode: incremental, cursor_column: id", "mode: chunked, chunk_size: SIZE -> " + tooManyTasks},
			[]string{"1", "9223372036854775807", "9223372036854775808", "18446744073709551614", "18446744073709551615"}},
		{"PLN-12 a key of two columns", "table: pair", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_column: shop, chunk_size: SIZE", "mode: incremental, cursor_column: shop"}, []string{"1|1", "1|2", "1|3", "1|4", "1|5", "1|6", "2|1", "3|1"}},
		{"PLN-12 a key in another order than the columns", "table: back", []string{"mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: word"}, []string{"1|1|x", "1|1|Y", "2|1|X", "1|2|", "2|2|"}},
		{"PLN-13 a unique key with NULLs", "table: gaps", []string{"mode: chunked, chunk_by_key: k, chunk_size: SIZE -> " + keyNotUnique, "mode: chunked, chunk_column: k, chunk_size: SIZE"}, []string{"1|a", "2|b", "|c", "|d"}},
		{"PLN-14 two keys", "table: twins", []string{"mode: chunked, chunk_size: SIZE", "mode: chunked, chunk_by_key: z, chunk_size: SIZE"}, []string{"300|1", "100|2", "200|3"}},
		{"PLN-15 no key", "table: heap", []string{"mode: full", "mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: a"}, []string{"1|x", "1|x", "2|y"}},
		{"PLN-20 a partitioned table", "table: halves", []string{"mode: chunked, chunk_size: SIZE", "mode: incremental, cursor_column: day"}, []string{"1|2023-06-01", "2|2024-06-01", "3|2030-01-01", "1|2024-01-01"}},
		{"PLN-21 a view", "table: seen", []string{"mode: full", "mode: chunked, chunk_column: id, chunk_size: SIZE"}, []string{"1|2023-06-01", "2|2024-06-01", "1|2024-01-01"}},
		{"CUR-01 equal cursors at the end of a batch", "table: same", []string{"mode: incremental, cursor_column: c"},
			[]string{"1|2024-01-01T00:00:00.000002", "2|2024-01-01T00:00:00.000003", "3|2024-01-01T00:00:00.000006", "4|2024-01-01T00:00:00.000006", "5|2024-01-01T00:00:00.000006", "6|2024-01-01T00:00:00.000006", "7|2024-01-01T00:00:00.000006", "8|2024-01-01T00:00:00.000009", "9|2024-01-01T00:00:00.000010"}},
	})
}
