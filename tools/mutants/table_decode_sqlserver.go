package main

// ofSQLServer is a case of the values that the stand-in for SQL Server sends.
func ofSQLServer(value string) catcher { return sqlServerDecoding("TestValues/" + value) }

// sqlServerMutants make the decoder of SQL Server's values take a value for
// another one, or leave what guards a session out.
var sqlServerMutants = []mutant{
	{
		name: "sqlserver-bit-negated", rule: "TMS",
		removes:  "a bit of 1 is true",
		edits:    []edit{does(sqlServerValues, "appendBool", "v.AppendBool(value)", "v.AppendBool(!value)")},
		caughtBy: ofSQLServer("a bit"),
	},
	{
		name: "sqlserver-short-truncated", rule: "TMS",
		removes:  "a number that 16 bits do not hold is refused",
		edits:    []edit{holds(sqlServerValues, "appendInteger", "n != int64(int16(n))", "false")},
		caughtBy: ofSQLServer("an int in a smaller type"),
	},
	{
		name: "sqlserver-int-truncated", rule: "TMS",
		removes:  "a number that 32 bits do not hold is refused",
		edits:    []edit{holds(sqlServerValues, "appendInteger", "n != int64(int32(n))", "false")},
		caughtBy: ofSQLServer("a bigint in a smaller type"),
	},
	{
		name: "sqlserver-datetime-of-1970", rule: "TMS-03",
		removes:  "the days of a datetime are counted from 1900",
		edits:    []edit{reads(sqlServerValues, "appendTicks", "(days-to1970)*86400", "(days-"+flipped("int64", "to1970-1", "to1970")+")*86400")},
		caughtBy: ofSQLServer("the first datetime"),
	},
	{
		name: "sqlserver-datetime-days-unsigned", rule: "TMS-03",
		removes:  "the days of a datetime have a sign",
		edits:    []edit{reads(sqlServerValues, "appendTicks", "int64(int32(binary.BigEndian.Uint32(b)))", flipped("int64", "int64(binary.BigEndian.Uint32(b))", "int64(int32(binary.BigEndian.Uint32(b)))"))},
		caughtBy: ofSQLServer("the first datetime"),
	},
	{
		name: "sqlserver-ticks-not-rounded", rule: "TMS-03",
		removes:  "the third of a microsecond is rounded",
		edits:    []edit{reads(sqlServerValues, "appendTicks", "(ticks*10_000+1)/3*1000", "(ticks*10_000+"+flipped("int64", "0", "1")+")/3*1000")},
		caughtBy: ofSQLServer("the last datetime"),
	},
	{
		name: "sqlserver-ticks-in-hundredths", rule: "TMS-03",
		removes:  "a tick is a third of a hundredth, and no millisecond",
		edits:    []edit{ahead(sqlServerValues, "appendTicks", "return appendInstant(v, seconds, (ticks*10_000+1)/3*1000)", "ticks -= ticks % 3")},
		caughtBy: ofSQLServer("a third of a second"),
	},
	{
		name: "sqlserver-microseconds-lost", rule: "TMS-02",
		removes:  "a time has its microseconds",
		edits:    []edit{reads(sqlServerValues, "appendTime", "int64(at.Nanosecond()/1000)", "int64(at.Nanosecond()/1000)*"+flipped("int64", "0", "1"))},
		caughtBy: ofSQLServer("a time"),
	},
	{
		name: "sqlserver-time-rounded-up", rule: "TMS-02",
		removes:  "a hundred nanoseconds are left out towards the past",
		edits:    []edit{reads(sqlServerValues, "appendInstant", "seconds*1_000_000 + nanos/1000", "seconds*1_000_000 + (nanos+"+flipped("int64", "500", "0")+")/1000")},
		caughtBy: ofSQLServer("a hundred nanoseconds before 1970 are cut towards the past"),
	},
	{
		name: "sqlserver-nanoseconds-wrap", rule: "TMS-02",
		removes:  "a time that nanoseconds do not reach is refused",
		edits:    []edit{does(sqlServerValues, "appendInstant", "return errNotNano", "")},
		caughtBy: ofSQLServer("a year that nanoseconds do not reach"),
	},
	{
		name: "sqlserver-offset-kept-as-time", rule: "TMS-02",
		removes:  "an instant is in UTC",
		edits:    []edit{ahead(sqlServerValues, "appendTime", "return appendInstant(v, at.Unix(), int64(at.Nanosecond()))", "if _, offset := at.Zone(); true { at = at.Add(time.Duration(offset) * time.Second) }")},
		caughtBy: ofSQLServer("an instant"),
	},
	{
		name: "sqlserver-guid-as-it-is-kept", rule: "TMS-04",
		removes:  "a uniqueidentifier is in the order of its text",
		edits:    []edit{ahead(sqlServerValues, "appendGUID", "copy(id[8:], b[8:])", "copy(id[:8], b[:8])")},
		caughtBy: ofSQLServer("a guid in the order of its text"),
	},
	{
		name: "sqlserver-half-a-pair", rule: "TMS-06",
		removes:  "half of a surrogate pair is refused",
		edits:    []edit{does(sqlServerRow, "appendUTF8", "return dst, errSurrogate", "")},
		caughtBy: ofSQLServer("half of a pair"),
	},
	{
		name: "sqlserver-text-bytes-swapped", rule: "TMS-06",
		removes:  "the low byte of a character comes first",
		edits:    []edit{reads(sqlServerRow, "appendUTF8", "r := rune(b[i]) | rune(b[i+1])<<8", "r := rune(b[i]) | rune(b[i+1])<<8; if $on { r = rune(b[i])<<8 | rune(b[i+1]) }")},
		caughtBy: ofSQLServer("text beyond the basic plane"),
	},
	{
		name: "sqlserver-unconverted-text", rule: "TMS-06",
		removes:  "bytes that a code page has no character for are refused",
		edits:    []edit{ahead(sqlServerRead, "column.check", "e := \"convert(varchar(max), \" + input(c.Name) + \")\"", "return \"\"")},
		caughtBy: ofSQLServer("bytes that a code page has no character for"),
	},
	{
		name: "sqlserver-limit-not-held", rule: "WRT-20",
		removes:  "a text above the limit is refused",
		edits:    []edit{holds(sqlServerValues, "reader.appendBytes", "r.limit > 0 && int64(len(r.scratch)) > r.limit", "false")},
		caughtBy: sqlServerDecoding("TestTheLimitOfAValueIsThatOfItsUTF8"),
	},
	{
		name: "sqlserver-bytes-above-the-limit", rule: "WRT-20",
		removes:  "bytes above the limit are refused",
		edits:    []edit{holds(sqlServerValues, "reader.appendBytes", "r.limit > 0 && int64(len(b)) > r.limit", "false")},
		caughtBy: sqlServerDecoding("TestTheLimitOfAValueIsThatOfItsUTF8"),
	},
}
