package main

// ofTheLibrary compares the text of documents that are drawn with that of the
// official library.
func ofTheLibrary() catcher { return extjsonEncoding("TestTheTextIsThatOfTheOfficialLibrary") }

// changed is a document that the text would change.
func changed(document string) catcher {
	return extjsonEncoding("TestWhatTheTextWouldChangeIsRefused/" + document)
}

// mongodbMutants make the text of a document stand for another one.
var mongodbMutants = []mutant{
	{
		name: "mongodb-int32-unsigned", rule: "TMO",
		removes:  "an int32 has a sign",
		edits:    []edit{reads(extjsonFile, "Encoder.value", "int64(int32(binary.LittleEndian.Uint32(v)))", flipped("int64", "int64(binary.LittleEndian.Uint32(v))", "int64(int32(binary.LittleEndian.Uint32(v)))"))},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-int64-bytes-swapped", rule: "TMO",
		removes:  "the low byte comes first",
		edits:    []edit{does(extjsonFile, "Encoder.value", "dst = e.integer(dst, `{\"$numberLong\":\"`, int64(binary.LittleEndian.Uint64(v)))", "dst = e.integer(dst, `{\"$numberLong\":\"`, int64(binary.BigEndian.Uint64(v)))")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-long-is-an-int", rule: "TMO",
		removes:  "canonical text tells an int64 from an int32",
		edits:    []edit{does(extjsonFile, "Encoder.value", "dst = e.integer(dst, `{\"$numberLong\":\"`, int64(binary.LittleEndian.Uint64(v)))", "dst = e.integer(dst, `{\"$numberInt\":\"`, int64(binary.LittleEndian.Uint64(v)))")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-double-without-point", rule: "TMO",
		removes:  "a double that is whole has a point",
		edits:    []edit{does(extjsonFile, "Encoder.double", "digits = append(digits, \".0\"...)", "")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-double-of-six-digits", rule: "TMO",
		removes:  "a double has every digit",
		edits:    []edit{reads(extjsonFile, "Encoder.double", "strconv.AppendFloat(digits, f, 'G', -1, 64)", "strconv.AppendFloat(digits, f, 'G', -1, "+flipped("int", "32", "64")+")")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-date-in-seconds", rule: "TMO",
		removes:  "a date has its milliseconds",
		edits:    []edit{reads(extjsonFile, "Encoder.date", "time.UnixMilli(millis)", "time.UnixMilli(millis/"+flipped("int64", "1000", "1")+"*"+flipped("int64", "1000", "1")+")")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-date-of-this-place", rule: "TMO",
		removes:  "a date is in UTC",
		edits:    []edit{reads(extjsonFile, "Encoder.date", ".UTC()", ".In(map[bool]*time.Location{true: time.FixedZone(\"\", 3600), false: time.UTC}[$on])")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-date-before-1970", rule: "TMO",
		removes:  "a date before 1970 is a number",
		edits:    []edit{holds(extjsonFile, "Encoder.date", "e.Canonical || millis < 0 || millis >= year10000", "e.Canonical || millis >= year10000")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-date-after-9999", rule: "TMO",
		removes:  "a date from the year 10000 on is a number",
		edits:    []edit{holds(extjsonFile, "Encoder.date", "e.Canonical || millis < 0 || millis >= year10000", "e.Canonical || millis < 0")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-timestamp-swapped", rule: "TMO",
		removes:  "the seconds of a timestamp are its second word",
		edits:    []edit{reads(extjsonFile, "Encoder.value", "uint64(binary.LittleEndian.Uint32(v[4:])), 10)", "uint64(binary.LittleEndian.Uint32(v["+flipped("int", "0", "4")+":])), 10)")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-decimal-halves-swapped", rule: "TMO",
		removes:  "the high half of a Decimal128 is its second one",
		edits:    []edit{reads(extjsonFile, "Encoder.value", "bson.NewDecimal128(binary.LittleEndian.Uint64(v[8:]), binary.LittleEndian.Uint64(v))", "bson.NewDecimal128(binary.LittleEndian.Uint64(v["+flipped("int", "0", "8")+":]), binary.LittleEndian.Uint64(v["+flipped("int", "8", "0")+":]))")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-boolean-negated", rule: "TMO",
		removes:  "1 is true",
		edits:    []edit{holds(extjsonFile, "Encoder.value", "v[0] == 1", "v[0] == 0")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-old-binary-with-its-length", rule: "TMO",
		removes:  "the length inside subtype 2 is no part of the value",
		edits:    []edit{does(extjsonFile, "appendBinary", "data = data[4:]", "")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-subtype-lost", rule: "TMO",
		removes:  "binary has its subtype",
		edits:    []edit{reads(extjsonFile, "appendBinary", "[]byte{subtype}", "[]byte{subtype & "+flipped("byte", "1", "0xFF")+"}")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-text-cut", rule: "TMO",
		removes:  "a text is as long as it says",
		edits:    []edit{reads(extjsonSize, "textOf", "v[4 : len(v)-1]", "v[4 : len(v)-1-"+flipped("int", "min(1, len(v)-5)", "0")+"]")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-lines-not-escaped", rule: "TMO",
		removes:  "the separators of lines are escapes",
		edits:    []edit{holds(extjsonFile, "appendText", "c == 0xE2 && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8", "false")},
		caughtBy: ofTheLibrary(),
	},
	{
		name: "mongodb-text-of-any-bytes", rule: "TMO-02",
		removes:  "text is valid UTF-8",
		edits:    []edit{holds(extjsonFile, "appendText", "!utf8.Valid(s)", "false")},
		caughtBy: changed("text that is not UTF-8"),
	},
	{
		name: "mongodb-a-name-twice", rule: "TMO-03",
		removes:  "a name that is there twice is refused",
		edits:    []edit{does(extjsonFile, "Encoder.name", "e.names = append(e.names, name)", "")},
		caughtBy: changed("one name twice"),
	},
	{
		name: "mongodb-a-name-twice-among-many", rule: "TMO-03",
		removes:  "a name that is there twice is refused among many",
		edits:    []edit{reads(extjsonFile, "Encoder.name", "if found {", "if found && !$on {")},
		caughtBy: changed("one name twice among many"),
	},
	{
		name: "mongodb-a-wrapper-of-its-own", rule: "TMO-04",
		removes:  "a document that looks like a value of another type is refused",
		edits:    []edit{holds(extjsonFile, "Encoder.name", "len(name) > 0 && name[0] == '$' && slices.Contains(wrappers, string(name))", "false")},
		caughtBy: changed("a document that looks like an ObjectId"),
	},
	{
		name: "mongodb-value-above-the-limit", rule: "WRT-20",
		removes:  "a text above the limit is refused",
		edits:    []edit{holds(mongodbReader, "reader.fits", "limit > 0 && int64(len(r.buffer)) > limit", "false")},
		caughtBy: mongodbReading("TestDocumentsThatCannotBeDeliveredAreRefusedByID/a value above the limit"),
	},
}
