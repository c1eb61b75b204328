package mysql

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// Values of every type that a cursor can have go to the position and back
// unharmed, whatever the server is set to: the second run is empty, and a later
// one has just what came (CUR-01, CUR-04, CUR-12).
func TestCursorsOfEveryType(t *testing.T) {
	s := newServer(t)
	s.exec(t, "set global time_zone = '+05:30', global sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'")
	s.last = append(s.last, "set global time_zone = default, global sql_mode = default")
	for _, tc := range []struct {
		spelled          string
		first, last      string // values of the first rows
		equal, different string // the last one again, and one after it
	}{
		{"tinyint", "-128", "126", "126", "127"},
		{"int", "-5", "2147483646", "2147483646", "2147483647"},
		{"bigint unsigned", "0", "18446744073709551614", "18446744073709551614", "18446744073709551615"},
		{"decimal(12,4)", "-0.0001", "0.0001", "0.00010", "0.0002"},
		{"decimal(65,30)", "-1", "12345678901234567890123456789012345.123456789012345678901234567890", "12345678901234567890123456789012345.123456789012345678901234567890", "12345678901234567890123456789012345.123456789012345678901234567891"},
		{"float", "-0.1", "0.1", "0.1", "0.10000001"},
		{"float", "1e-38", "16777216", "16777216", "16777218"},
		{"double", "0.1", "0.30000000000000004", "0.30000000000000004", "0.3000000000000001"},
		{"date", "0001-01-01", "2024-02-29", "2024-02-29", "2024-03-01"},
		{"datetime", "1000-01-01 00:00:00", "2024-05-09 13:28:27", "2024-05-09 13:28:27", "2024-05-09 13:28:28"},
		{"datetime(6)", "1000-01-01 00:00:00", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031154"},
		{"timestamp(6)", "1970-01-01 00:00:01", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031154"},
		{"time(3)", "00:00:00", "22:59:59.998", "22:59:59.998", "22:59:59.999"},
		{"varchar(20) collate utf8mb4_general_ci", "B", "é\\\\ '' x", "É\\\\ '' X", "é~"},
		{"varchar(20) character set latin1", "A", "é€", "é€", "ÿ"},
		{"varchar(20) collate utf8mb4_bin", "", "b", "b  ", "b😀"},
		{"char(5) collate utf8mb4_bin", "a", "b", "b ", "c"},
		{"varbinary(8)", "", "b\\0", "b\\0", "b\\0\\0"},
		{"binary(4)", "a", "b", "b", "c"},
	} {
		t.Run(tc.spelled+" to "+tc.last, func(t *testing.T) {
			s.exec(t, fmt.Sprintf("drop table if exists t; create table t (id int primary key, c %s null); insert into t values (1, '%s'), (2, '%s'), (3, null)", tc.spelled, tc.first, tc.last))
			r := sourcetest.Runs{Source: s.source(t), Relation: s.table("t")}
			r.Follow(t, tc.equal, tc.different, func(values string) { s.exec(t, "insert into t values "+values) })
		})
	}
}
