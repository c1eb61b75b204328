package main

// ofMySQL is a case of the values that a server of MySQL sends.
func ofMySQL(value string) catcher { return mysqlDecoding("TestDecodedValues/" + value) }

// mysqlMutants make the decoder of MySQL's binary rows take a value for another
// one.
var mysqlMutants = []mutant{
	{
		name: "mysql-byte-signed", rule: "values",
		removes:  "an unsigned tinyint has no sign",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(b[0])", "return int64(int8(b[0]))")},
		caughtBy: ofMySQL("an unsigned byte"),
	},
	{
		name: "mysql-byte-unsigned", rule: "values",
		removes:  "a tinyint has a sign",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(int8(b[0]))", "return int64(b[0])")},
		caughtBy: ofMySQL("a signed byte"),
	},
	{
		name: "mysql-short-signed", rule: "values",
		removes:  "an unsigned smallint has no sign",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(binary.LittleEndian.Uint16(b))", "return int64(int16(binary.LittleEndian.Uint16(b)))")},
		caughtBy: ofMySQL("an unsigned short"),
	},
	{
		name: "mysql-short-bytes-swapped", rule: "values",
		removes:  "the low byte comes first",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(int16(binary.LittleEndian.Uint16(b)))", "return int64(int16(binary.BigEndian.Uint16(b)))")},
		caughtBy: packetDecoding("TestValuesAsText/a short of two bytes"),
	},
	{
		name: "mysql-int-signed", rule: "values",
		removes:  "an unsigned int has no sign",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(binary.LittleEndian.Uint32(b))", "return int64(int32(binary.LittleEndian.Uint32(b)))")},
		caughtBy: ofMySQL("an unsigned int"),
	},
	{
		name: "mysql-int-bytes-swapped", rule: "values",
		removes:  "the low byte comes first",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(int32(binary.LittleEndian.Uint32(b)))", "return int64(int32(binary.BigEndian.Uint32(b)))")},
		caughtBy: ofMySQL("a signed int"),
	},
	{
		name: "mysql-bigint-bytes-swapped", rule: "values",
		removes:  "the low byte comes first",
		edits:    []edit{does(packetValue, "Column.Integer", "return int64(binary.LittleEndian.Uint64(b))", "return int64(binary.BigEndian.Uint64(b))")},
		caughtBy: ofMySQL("the least bigint"),
	},
	{
		name: "mysql-unsigned-bigint-wraps", rule: "values",
		removes:  "an unsigned bigint that a signed one does not hold is refused",
		edits:    []edit{holds(mysqlValues, "appendInteger", "whole > math.MaxInt64", "false")},
		caughtBy: ofMySQL("an unsigned bigint as a signed one"),
	},
	{
		name: "mysql-bigint-as-signed", rule: "values",
		removes:  "an unsigned bigint is delivered as one",
		edits:    []edit{reads(mysqlValues, "appendInteger", "v.AppendUint64(whole)", "v.AppendUint64(whole & "+flipped("uint64", "1<<63-1", "1<<64-1")+")")},
		caughtBy: ofMySQL("the greatest unsigned bigint"),
	},
	{
		name: "mysql-short-truncated", rule: "values",
		removes:  "a number that 16 bits do not hold is refused",
		edits:    []edit{holds(mysqlValues, "appendInteger", "n != int64(int16(n))", "false")},
		caughtBy: ofMySQL("an int that a short does not hold"),
	},
	{
		name: "mysql-int-truncated", rule: "values",
		removes:  "a number that 32 bits do not hold is refused",
		edits:    []edit{holds(mysqlValues, "appendInteger", "n != int64(int32(n))", "false")},
		caughtBy: ofMySQL("a bigint that an int does not hold"),
	},
	{
		name: "mysql-bits-swapped", rule: "TMY-05",
		removes:  "the highest bits come first",
		edits:    []edit{does(mysqlValues, "wholeOf", "bits = bits<<8 | uint64(x)", "bits = bits>>8 | uint64(x)<<16")},
		caughtBy: ofMySQL("bits, the highest first"),
	},
	{
		name: "mysql-any-number-is-true", rule: "TMY-04",
		removes:  "a boolean is 0 or 1",
		edits:    []edit{holds(mysqlValues, "appendValue", "err != nil || n > 1", "err != nil")},
		caughtBy: ofMySQL("a two for a boolean"),
	},
	{
		name: "mysql-float-bytes-swapped", rule: "values",
		removes:  "a float's low byte comes first",
		edits:    []edit{does(mysqlValues, "appendFloat", "v.AppendFloat32(math.Float32frombits(binary.LittleEndian.Uint32(b)))", "v.AppendFloat32(math.Float32frombits(binary.BigEndian.Uint32(b)))")},
		caughtBy: ofMySQL("a float"),
	},
	{
		name: "mysql-double-bytes-swapped", rule: "values",
		removes:  "a double's low byte comes first",
		edits:    []edit{does(mysqlValues, "appendFloat", "v.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(b)))", "v.AppendFloat64(math.Float64frombits(binary.BigEndian.Uint64(b)))")},
		caughtBy: ofMySQL("a double"),
	},
	{
		name: "mysql-zero-date", rule: "TMY-01",
		removes:  "a month or day of zero is no day",
		edits:    []edit{does(mysqlValues, "daysOf", "return 0, errZeroDate", "return 0, nil")},
		caughtBy: ofMySQL("a date of zeros"),
	},
	{
		name: "mysql-no-such-day", rule: "TMY-01",
		removes:  "a day that no calendar has is refused",
		edits:    []edit{holds(mysqlValues, "daysOf", "t.Day > length", "false")},
		caughtBy: mysqlDecoding("TestDaysAreThoseOfTheCalendar"),
	},
	{
		name: "mysql-every-century-leaps", rule: "values",
		removes:  "1900 has no leap day",
		edits:    []edit{holds(mysqlValues, "daysOf", "t.Year%4 == 0 && (t.Year%100 != 0 || t.Year%400 == 0)", "t.Year%4 == 0")},
		caughtBy: mysqlDecoding("TestDaysAreThoseOfTheCalendar"),
	},
	{
		name: "mysql-date-a-day-late", rule: "values",
		removes:  "a day is the day that it is",
		edits:    []edit{ahead(mysqlValues, "daysOf", "years := t.Year - 1", "day++")},
		caughtBy: mysqlDecoding("TestDaysAreThoseOfTheCalendar"),
	},
	{
		name: "mysql-time-without-sign", rule: "TMY-02",
		removes:  "a time below 0 is refused",
		edits:    []edit{holds(mysqlValues, "appendTime", "t.Negative || micros >= microsADay", "micros >= microsADay")},
		caughtBy: ofMySQL("a time below 0"),
	},
	{
		name: "mysql-time-of-days", rule: "TMY-02",
		removes:  "a time from 24 hours on is refused",
		edits:    []edit{holds(mysqlValues, "appendTime", "t.Negative || micros >= microsADay", "t.Negative")},
		caughtBy: ofMySQL("a time of a day and more"),
	},
	{
		name: "mysql-span-without-days", rule: "TMY-02",
		removes:  "a span has its days",
		edits:    []edit{reads(packetValue, "Column.ReadTime", "int(days)*24+int(b[clock])", "int(days)*"+flipped("int", "0", "24")+"+int(b[clock])")},
		caughtBy: packetDecoding("TestValuesAsText/a long span back"),
	},
	{
		name: "mysql-microseconds-lost", rule: "values",
		removes:  "a time has its microseconds",
		edits:    []edit{does(packetValue, "Column.ReadTime", "t.Micros = int(binary.LittleEndian.Uint32(b[clock+3:]))", "")},
		caughtBy: ofMySQL("a local time"),
	},
	{
		name: "mysql-nanoseconds-as-microseconds", rule: "values",
		removes:  "nanoseconds are a thousand times microseconds",
		edits:    []edit{does(mysqlValues, "appendTimestamp", "v.AppendInt64(micros * 1000)", "v.AppendInt64(micros)")},
		caughtBy: ofMySQL("in nanoseconds"),
	},
	{
		name: "mysql-nanoseconds-wrap", rule: "values",
		removes:  "a time that nanoseconds do not reach is refused",
		edits:    []edit{holds(mysqlValues, "appendTimestamp", "micros > math.MaxInt64/1000 || micros < math.MinInt64/1000", "false")},
		caughtBy: ofMySQL("a year that nanoseconds do not reach"),
	},
	{
		name: "mysql-text-of-any-bytes", rule: "values",
		removes:  "text is valid UTF-8",
		edits:    []edit{holds(mysqlValues, "appendValue", "!utf8.Valid(b)", "false")},
		caughtBy: ofMySQL("text that is none"),
	},
	{
		name: "mysql-NULL-of-the-column-before", rule: "values",
		removes:  "a column's bit of NULL is its own",
		edits:    []edit{reads(packetRow, "frame", "bit := i + offset", "bit := i + offset - "+flipped("int", "1", "0"))},
		caughtBy: packetDecoding("TestRowsWhateverWasAgreedOn"),
	},
	{
		name: "mysql-NULL-is-a-value", rule: "values",
		removes:  "a value that is NULL takes no bytes",
		edits:    []edit{holds(packetRow, "frame", "p[bit>>3]>>(bit&7)&1 != 0", "false")},
		caughtBy: packetDecoding("TestRowsWhateverWasAgreedOn"),
	},
	{
		name: "mysql-bytes-left-over", rule: "values",
		removes:  "a row has no byte that is in no value",
		edits:    []edit{holds(packetRow, "frame", "at != len(p)", "false")},
		caughtBy: packetDecoding("TestWhatServersMayNotSend"),
	},
	{
		name: "mysql-columns-without-a-sign", rule: "values",
		removes:  "a column says whether its numbers have a sign",
		edits:    []edit{holds(packetColumn, "columnOf", "binary.LittleEndian.Uint16(p[8:])&flagUnsigned != 0", "false")},
		caughtBy: packetDecoding("TestAColumnIsWhatItsDefinitionSays"),
	},
	{
		name: "decimal-without-sign", rule: "values",
		removes:  "a decimal of many digits has a sign",
		edits:    []edit{does(decimalFile, "Vector.AppendDecimalText", "negate(out[:])", "")},
		caughtBy: rowbatchDecimals("TestEveryDecimalPrintsAsItWasRead"),
	},
	{
		name: "decimal-carry-lost", rule: "values",
		removes:  "digits of a decimal go on into the next word",
		edits:    []edit{reads(decimalFile, "multiplyAdd", "high+carry", "high+"+flipped("uint64", "0", "carry"))},
		caughtBy: rowbatchDecimals("TestDecimalTextIsStoredExactlyOrRefused"),
	},
	{
		name: "decimal-scale-cut", rule: "values",
		removes:  "digits beyond the scale are zeros",
		edits:    []edit{does(decimalFile, "Vector.AppendDecimalText", "return ErrDecimalScale", "")},
		caughtBy: rowbatchDecimals("TestDecimalTextIsStoredExactlyOrRefused"),
	},
}
