package e2e

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// mysqlTypes has every type of MySQL and MariaDB that has a mapping (reference
// §4.2). canonical is the server's own text of a value; that of a float has
// digits, which digits turns into bits.
var mysqlTypes = []struct {
	column
	digits func(string) string
}{
	{column: column{name: "c_bool", native: "tinyint(1)", canonical: "case %s when 0 then 'false' when 1 then 'true' end", values: list("0", "1"), generated: "i % 2"}},
	{column: column{name: "c_tiny", native: "tinyint", canonical: "cast(%s as char)", values: list("-128", "127"), generated: "i % 100"}},
	{column: column{name: "c_utiny", native: "tinyint unsigned", canonical: "cast(%s as char)", values: list("0", "255"), generated: "i % 256"}},
	{column: column{name: "c_small2", native: "smallint", canonical: "cast(%s as char)", values: list("-32768", "32767"), generated: "-i"}},
	{column: column{name: "c_usmall", native: "smallint unsigned", canonical: "cast(%s as char)", values: list("65535"), generated: "i"}},
	{column: column{name: "c_medium", native: "mediumint", canonical: "cast(%s as char)", values: list("-8388608", "8388607"), generated: "-i * 1000"}},
	{column: column{name: "c_umedium", native: "mediumint unsigned", canonical: "cast(%s as char)", values: list("16777215", "8388608"), generated: "i * 1000"}},
	{column: column{name: "c_int", native: "int", canonical: "cast(%s as char)", values: list("-2147483648", "2147483647"), generated: "-i"}},
	{column: column{name: "c_uint", native: "int unsigned", canonical: "cast(%s as char)", values: list("4294967295", "3349714808"), generated: "i * 1000"}},
	{column: column{name: "c_big", native: "bigint", canonical: "cast(%s as char)", values: list("-9223372036854775808", "9223372036854775807"), generated: "-i * 9007199254740"}},
	{column: column{name: "c_ubig", native: "bigint unsigned", canonical: "cast(%s as char)", values: list("18446744073709551615", "9223372036854775808"), generated: "18446744073709551615 - i"}},
	{column: column{name: "c_float", native: "float", canonical: "cast(%s + 0e0 as char)", csv: floatBits(32), values: list("0.1", "16777217", "1.17549435e-38", "-3.4028234e38"), generated: "i * 1.1"}, digits: floatBits(32)},
	{column: column{name: "c_double", native: "double", canonical: "cast(%s as char)", csv: floatBits(64), values: list("0.1e0 + 0.2e0", "5e-324", "-1.7976931348623157e308"), generated: "sqrt(i)"}, digits: floatBits(64)},
	{column: column{name: "c_small", native: "decimal(10,2)", canonical: "cast(%s as char)", values: list("0.10", "-99999999.99"), generated: "i * 1.01"}},
	{column: column{name: "c_wide", native: "decimal(38,10)", canonical: "cast(%s as char)", values: list("9999999999999999999999999999.9999999999", "-0.0000000001"), generated: "i / 7"}},
	{column: column{name: "c_bit", native: "bit(40)", canonical: "cast(%s + 0 as char)", values: list("b'0'", "1099511627775"), generated: "i * 3"}},
	{column: column{name: "c_onebit", native: "bit(1)", canonical: "case %s + 0 when 0 then 'false' when 1 then 'true' end", values: list("b'0'", "b'1'"), generated: "i % 2"}},
	{column: column{name: "c_year", native: "year", canonical: "cast(%s + 0 as char)", values: list("1901", "2155", "0"), generated: "1901 + i % 200"}},
	{column: column{name: "c_date", native: "date", canonical: "cast(datediff(%s, '1970-01-01') as char)", csv: days, values: list("'0001-01-01'", "'9999-12-31'", "'1969-12-31'"), generated: "date'1900-01-01' + interval i * 13 day"}},
	{column: column{name: "c_datetime", native: "datetime(6)", canonical: "cast(timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', %s) as char)", csv: microsOfTimestamp,
		values: list("'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'"), generated: "timestamp'1970-01-01 00:00:00' + interval i * 1234567 microsecond"}},
	{column: column{name: "c_timestamp", native: "timestamp(6) null", canonical: "cast(timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', %s) as char)", csv: microsOfTimestamp,
		values: list("'1970-01-01 00:00:01'", "'2038-01-19 03:14:07.999999'"), generated: "timestamp'2000-01-01 00:00:00' + interval i * 1234567 microsecond"}},
	{column: column{name: "c_time", native: "time(6)", canonical: "cast(cast(time_to_sec(%s) * 1000000 as signed) as char)", csv: microsOfTime, values: list("'00:00:00'", "'23:59:59.999999'"), generated: "sec_to_time(i * 17.000003)"}},
	{column: column{name: "c_text", native: "text", canonical: "%s", values: list("''", `'a\nb\r\n\tc'`, `'\\N'`, `'"quoted", comma'`, "'漢字 😀'", "repeat('long ', 12000)"), generated: "concat(md5(i), repeat('x', i % 50))"}},
	{column: column{name: "c_latin", native: "varchar(20) character set latin1", canonical: "convert(%s using utf8mb4)", values: list("'é€'", "'trailing  '"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_tinytext", native: "tinytext", canonical: "%s", values: list("''", "repeat('漢', 85)"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_mediumtext", native: "mediumtext", canonical: "%s", values: list("''", "repeat('medium ', 20000)"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_longtext", native: "longtext", canonical: "%s", values: list("''", "repeat('very long ', 20000)"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_old", native: "varchar(20) character set utf8mb3", canonical: "convert(%s using utf8mb4)", values: list("'漢é'"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_gbk", native: "varchar(20) character set gbk", canonical: "convert(%s using utf8mb4)", values: list("'中文'"), generated: "left(md5(i), i % 20)"}},
	{column: column{name: "c_char", native: "char(5)", canonical: "%s", values: list("''", "'ab'", "'漢'"), generated: "left(md5(i), i % 5)"}},
	{column: column{name: "c_binary", native: "binary(4)", canonical: "lower(hex(%s))", values: list("X'41'"), generated: "unhex(left(md5(i), 8))"}},
	{column: column{name: "c_varbinary", native: "varbinary(300)", canonical: "lower(hex(%s))", values: list("''", "X'00'", "repeat(X'FF', 256)"), generated: "unhex(md5(i))"}},
	{column: column{name: "c_tinyblob", native: "tinyblob", canonical: "lower(hex(%s))", values: list("''", "repeat(X'00', 255)"), generated: "unhex(md5(i))"}},
	{column: column{name: "c_mediumblob", native: "mediumblob", canonical: "lower(hex(%s))", values: list("''", "repeat(X'FE', 70000)"), generated: "unhex(md5(i))"}},
	{column: column{name: "c_longblob", native: "longblob", canonical: "lower(hex(%s))", values: list("''", "repeat(X'FD', 70000)"), generated: "unhex(md5(i))"}},
	{column: column{name: "c_blob", native: "blob", canonical: "lower(hex(%s))", values: list("''", "X'00FF5C27220A'"), generated: "unhex(md5(i))"}},
	{column: column{name: "c_enum", native: "enum('a','b,c')", canonical: "cast(%s as char)", values: list("'b,c'"), generated: "1 + i % 2"}},
	{column: column{name: "c_set", native: "set('x','y','z')", canonical: "cast(%s as char)", values: list("''", "'x,z'"), generated: "i % 8"}},
	{column: column{name: "c_json", native: "json", canonical: "%s", values: list("'null'", `'{"b":1,"a":18446744073709551615,"c":"<&>"}'`), generated: "json_object('i', i)"}},
	{column: column{name: "c_span", native: "time(1)", override: "text", canonical: "cast(%s as char)", values: list("'838:59:59'", "'-01:00:00'"), generated: "sec_to_time(-i)"}},
	{column: column{name: "c_flag", native: "tinyint(1)", override: "int16", canonical: "cast(%s as char)", values: list("-1", "2", "127"), generated: "i % 3"}},
	{column: column{name: "c_uuid", native: "uuid", override: "uuid", canonical: "replace(%s, '-', '')", csv: withoutDashes, values: list("'00000000-0000-0000-0000-000000000000'", "'fffffffe-ffff-11ff-8fff-ffffffffffff'"), generated: "md5(i)"}},
	{column: column{name: "c_inet4", native: "inet4", override: "text", canonical: "cast(%s as char)", values: list("'0.0.0.0'", "'255.255.255.255'"), generated: "concat('10.0.', i div 256 % 256, '.', i % 256)"}},
	{column: column{name: "c_inet6", native: "inet6", override: "text", canonical: "cast(%s as char)", values: list("'::'", "'::ffff:1.2.3.4'", "'ffff::1'"), generated: "concat('2001:db8::', hex(i))"}},
}

// mysqlDatabase makes a database on a server, and drops it when the test ends.
func mysqlDatabase(t *testing.T, variable string) (at string, db *sql.DB) {
	t.Helper()
	u, err := url.Parse(testenv.Server(t, variable))
	if err != nil {
		t.Fatal(err)
	}
	config := mysqldriver.NewConfig()
	config.User, config.Net, config.Addr, config.MultiStatements = u.User.Username(), "tcp", u.Host, true
	config.Passwd, _ = u.User.Password()
	config.Params = map[string]string{"time_zone": "'+00:00'", "sql_mode": "''", "max_statement_time": "60"}
	if err := config.Apply(mysqldriver.Charset("utf8mb4", "")); err != nil {
		t.Fatal(err)
	}
	name := "e2e_" + strings.ToLower(rand.Text()[:12])
	config.DBName = ""
	create, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	admin := sql.OpenDB(create)
	if _, err := admin.ExecContext(t.Context(), "create database "+name+" character set utf8mb4"); err != nil {
		t.Fatal(err)
	}
	config = config.Clone()
	config.DBName = name
	use, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db = sql.OpenDB(use)
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "drop database "+name); err != nil {
			t.Error(err)
		}
		_ = db.Close()
		_ = admin.Close()
	})
	u.Path = "/" + name
	return u.String(), db
}

// createMySQLTypes makes the table t: a row of NULLs, rows of extremes, and
// generated rows; and returns its rows as testdata/read.py prints them.
func createMySQLTypes(t *testing.T, db *sql.DB, generated int) (columns []column, rows []string) {
	t.Helper()
	exec := func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v\n%.1000s", err, statement)
		}
	}
	columns = []column{{name: "id", canonical: "cast(%s as char)"}, {name: "bucket", canonical: "cast(%s as char)"}, {name: "code", canonical: "%s"}}
	define, generate, texts := []string{}, []string{}, []string{}
	for _, c := range mysqlTypes {
		columns = append(columns, c.column)
		define = append(define, c.name+" "+c.native)
		generate = append(generate, c.generated)
	}
	for _, c := range columns {
		texts = append(texts, c.expression())
	}
	exec("create table t (id bigint unsigned primary key, bucket int, code varchar(40) collate utf8mb4_general_ci not null unique, " + strings.Join(define, ", ") + ")")
	exec("insert into t (id, code) values (0, 'nothing')")
	for row := range 6 {
		values := make([]string, len(mysqlTypes))
		for i, c := range mysqlTypes {
			values[i] = c.values[row%len(c.values)]
		}
		exec(fmt.Sprintf("insert into t values (18446744073709551615 - %d, %d, 'Extreme %d', %s)", row, -row, row, strings.Join(values, ", ")))
	}
	exec(fmt.Sprintf("insert into t select i, if(i %% 5 > 0, i div 10, null), concat(if(i %% 2, 'Key ', 'key '), md5(i)), %s from (select seq as i from seq_1_to_%d) g", strings.Join(generate, ", "), generated))
	exec("analyze table t")
	answer, err := db.QueryContext(t.Context(), "select "+strings.Join(texts, ", ")+" from t")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	for answer.Next() {
		values, into := make([]*string, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := answer.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, c := range mysqlTypes {
			if v := values[i+3]; v != nil && c.digits != nil {
				*v = c.digits(*v)
			}
		}
		body, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(body))
	}
	if err := answer.Err(); err != nil {
		t.Fatal(err)
	}
	return columns, normalized(t, rows, nil)
}

// mysqlCuts are the ways of reading t that give the same rows, and how many
// parts they have at least. Ranges of equal width hold the keys of t in the
// first and the last one.
var mysqlCuts = []sourceCut{
	{"full", "mode: full", 1},
	{"ranges of the unsigned primary key", "mode: chunked, chunk_count: 7", 2},
	{"ranges of a column with NULLs", "mode: chunked, chunk_column: bucket, chunk_size: 25", 4},
	{"a text key by a collation", "mode: chunked, chunk_by_key: code, chunk_size: 200", 4},
	{"a cursor", "mode: incremental, cursor_column: id", 1},
}

func TestEveryValueOfMariaDBArrives(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	for server, variable := range map[string]string{"default": testenv.MariaDBURL, "newest": testenv.MariaDBNewURL} {
		at, db := mysqlDatabase(t, variable)
		columns, want := createMySQLTypes(t, db, 1500)
		d := newDesk(t)
		d.env["DATABASE_URL"] = at
		keys := fmt.Sprintf("table: t, columns: { %s }", overridesOf(columns))
		runCuts(t, d, server+", ", "{ type: mysql, url_env: DATABASE_URL }", keys, mysqlCuts, []string{"parquet", "csv"}, func(t *testing.T, of map[string]publication) {
			sameRows(t, want, normalized(t, of["parquet"].rows(t, "pyarrow", namesOf(columns)), nil))
			sameRows(t, want, normalized(t, of["parquet"].rows(t, "duckdb", namesOf(columns)), nil))
			sameRows(t, want, normalized(t, of["csv"].rows(t, "csv", namesOf(columns)), columns))
		})
	}
}

func TestTheExampleOfMySQLRuns(t *testing.T) {
	at, db := mysqlDatabase(t, testenv.MariaDBURL)
	if _, err := db.ExecContext(t.Context(), `create table orders (id bigint unsigned auto_increment primary key, note varchar(50), updated_at timestamp(6) not null, index (updated_at));
		insert into orders (note, updated_at) select concat('order ', seq), now(6) - interval seq minute from seq_0_to_499`); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	body, err := os.ReadFile("../examples/mysql/rivet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "rivet.yaml", string(body))
	d.must(t, "run")
	if p := published(t, inFolder(t, filepath.Join(d.dir, "exports/orders"))); p.manifest.RowCount != 500 {
		t.Errorf("%d of 500 rows", p.manifest.RowCount)
	}
	if _, err := db.ExecContext(t.Context(), "insert into orders (note, updated_at) values ('late', now(6) - interval 6 minute), ('young', now(6))"); err != nil {
		t.Fatal(err)
	}
	d.must(t, "run", "--export", "orders_new")
	runs, err := filepath.Glob(filepath.Join(d.dir, "exports/orders_new/*"))
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, run := range runs {
		if !strings.Contains(run, "_lapstrake") {
			rows += published(t, inFolder(t, run)).manifest.RowCount
		}
	}
	// Of 500 rows the five youngest wait; the cursor stops before the first of them.
	if rows < 494 || rows > 496 {
		t.Errorf("%d rows in %d runs, want about 495", rows, len(runs))
	}
}
