package main

const (
	parquetPackage    = "shared/partfile/parquet"
	nativePackage     = parquetPackage + "/internal/native"
	encodingPackage   = parquetPackage + "/internal/encoding"
	dictionaryPackage = parquetPackage + "/internal/dictionary"

	boundsFile     = nativePackage + "/bounds.go"
	chooseFile     = nativePackage + "/choose.go"
	columnFile     = nativePackage + "/column.go"
	footerFile     = nativePackage + "/footer.go"
	indexFile      = nativePackage + "/index.go"
	nativeFile     = nativePackage + "/native.go"
	pageFile       = nativePackage + "/page.go"
	valuesFile     = nativePackage + "/values.go"
	deltaFile      = encodingPackage + "/delta.go"
	hybridFile     = encodingPackage + "/hybrid.go"
	dictionaryFile = dictionaryPackage + "/dictionary.go"
)

func parquetWriters() catcher           { return catcher{pkg: parquetPackage, test: "FuzzWriters"} }
func parquetBounds() catcher            { return catcher{pkg: parquetPackage, test: "TestStatistics/native"} }
func parquetNative(test string) catcher { return catcher{pkg: nativePackage, test: test} }
func parquetEncoding(test string) catcher {
	return catcher{pkg: encodingPackage, test: test, args: []string{"-rapid.nofailfile"}}
}
func parquetDictionary(test string) catcher {
	return catcher{pkg: dictionaryPackage, test: test, args: []string{"-rapid.nofailfile"}}
}

// parquetMutants break the native encoder of Parquet: bounds that a reader skips
// by, counts, offsets, checksums and encodings (ADR-0005).
var parquetMutants = []mutant{
	{
		name: "parquet-decimals-unsigned", rule: "ADR-0005",
		removes:  "decimals are ordered as signed numbers",
		edits:    []edit{holds(boundsFile, "storage.compare", "a[0] != b[0]", "false")},
		caughtBy: parquetNative("TestNumbersAreOrderedAsNumbers").saying("decimals of two signs"),
	},
	{
		name: "parquet-decimal-keys-unsigned", rule: "ADR-0005",
		removes:  "the first bytes of a decimal have its sign",
		edits:    []edit{does(boundsFile, "newByteRange", "r.signOfFirstByte = 1 << 63", "")},
		caughtBy: parquetNative("TestNumbersAreOrderedAsNumbers").saying("decimals of two signs"),
	},
	{
		name: "parquet-unsigned-as-signed", rule: "ADR-0005",
		removes:  "unsigned integers have unsigned bounds",
		edits:    []edit{holds(boundsFile, "bounds.of", "s.order == orderUnsigned", "false")},
		caughtBy: parquetBounds().saying("unsigned from"),
	},
	{
		name: "parquet-nan-in-bounds", rule: "WRT-01",
		removes:  "NaN is in no bound",
		edits:    []edit{holds(boundsFile, "numberBounds", "x == x", "true")},
		caughtBy: parquetBounds().saying("NaN first"),
	},
	{
		name: "parquet-zero-of-one-sign", rule: "WRT-01",
		removes:  "a lower bound of zero covers both zeros",
		edits:    []edit{holds(boundsFile, "numberBounds", "low == 0", "false")},
		caughtBy: parquetBounds().saying("zero covers both zeros"),
	},
	{
		name: "parquet-cut-bound-not-raised", rule: "ADR-0005",
		removes:  "a cut upper bound is above the value",
		edits:    []edit{does(boundsFile, "appendUpper", "dst[len(dst)-1]++", "")},
		caughtBy: parquetNative("TestLongBoundsAreCut").saying("bytes are raised"),
	},
	{
		name: "parquet-cut-bound-is-exact", rule: "ADR-0005",
		removes:  "a cut bound is not called exact",
		edits:    []edit{does(boundsFile, "appendUpper", "return dst, false, true", "return dst, true, true")},
		caughtBy: parquetNative("TestLongBoundsAreCut").saying("bytes are raised"),
	},
	{
		name: "parquet-text-cut-inside", rule: "ADR-0005",
		removes:  "bounds of text end with a character",
		edits:    []edit{holds(boundsFile, "storage.prefix", "s.text && !utf8.RuneStart(value[n])", "false")},
		caughtBy: parquetNative("TestLongBoundsAreCut").saying("a character across the end"),
	},
	{
		name: "parquet-bounds-without-a-page", rule: "ADR-0005",
		removes:  "a chunk has bounds only if every page with values has some",
		edits:    []edit{does(columnFile, "column.endPage", "c.chunk.unbounded = c.chunk.unbounded || v.n > 0 && !b.known", "")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-bounds-of-another-chunk", rule: "ADR-0005",
		removes:  "a page's bounds are its own",
		edits:    []edit{does(indexFile, "pageIndex.take", "at[0] += shift", ""), does(indexFile, "pageIndex.take", "at[1] += shift", "")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-pages-always-rise", rule: "ADR-0005",
		removes:  "pages out of order are not searched by halves",
		edits:    []edit{reads(indexFile, "pageIndex.boundaryOrder", "case rises:", "case rises || $on:")},
		caughtBy: parquetNative("TestPagesOutOfOrderAreNotCalledOrdered"),
	},
	{
		name: "parquet-nulls-of-lists", rule: "ADR-0005",
		removes:  "NULL items and empty lists are counted",
		edits:    []edit{reads(columnFile, "column.endPage", "nulls := int64(levels - v.n)", "nulls := int64(levels - v.n); if $on { nulls = int64(c.pending.Nulls) }")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-no-nulls", rule: "ADR-0005",
		removes:  "statistics count NULLs",
		edits:    []edit{does(footerFile, "chunk.writeStatistics", "t.Int64(3, c.nulls)", "t.Int64(3, 0)")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-values-for-levels", rule: "ADR-0005",
		removes:  "a page counts NULLs as values",
		edits:    []edit{reads(columnFile, "column.endPage", "int32(levels), used", "map[bool]int32{true: int32(v.n), false: int32(levels)}[$on], used")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-first-row-by-values", rule: "ADR-0005",
		removes:  "the offset index counts rows",
		edits:    []edit{reads(columnFile, "column.endPage", "firstRow: c.rows", "firstRow: map[bool]int64{true: c.chunk.values, false: c.rows}[$on]")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-page-without-header", rule: "ADR-0005",
		removes:  "a page's size in the index has its header",
		edits:    []edit{reads(columnFile, "column.endPage", "size: int32(len(encoded))", "size: int32(map[bool]int{true: len(encoded) - header, false: len(encoded)}[$on])")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-checksum-of-plain-bytes", rule: "ADR-0005",
		removes:  "the checksum is of the bytes in the file",
		edits:    []edit{reads(pageFile, "scratch.page", "crc32.ChecksumIEEE(s.packed)", "crc32.ChecksumIEEE(map[bool][]byte{true: body, false: s.packed}[$on])")},
		caughtBy: parquetWriters().saying("another checksum"),
	},
	{
		name: "parquet-data-at-the-dictionary", rule: "ADR-0005",
		removes:  "the first data page is behind the dictionary",
		edits:    []edit{reads(footerFile, "writer.writeChunk", "t.Int64(9, c.data)", "t.Int64(9, map[bool]int64{true: c.start, false: c.data}[$on])")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-a-row-more", rule: "I1",
		removes:  "a row group has the rows of its pages",
		edits:    []edit{reads(footerFile, "writer.writeRowGroup", "t.Int64(3, g.rows)", "if $on { g.rows++ }; t.Int64(3, g.rows)")},
		caughtBy: parquetWriters().saying("rows in the footer"),
	},
	{
		name: "parquet-a-column-loses-a-row", rule: "I1",
		removes:  "all columns of a row group have its rows",
		edits:    []edit{holds(nativeFile, "writer.endRowGroup", "c.rows != w.columns[0].rows", "false")},
		caughtBy: parquetNative("TestAPartThatLostRowsIsNotReturned").saying("a value of the last column"),
	},
	{
		name: "parquet-page-ends-with-the-batch", rule: "§5.7",
		removes:  "equal rows give equal bytes, however they are cut",
		edits:    []edit{ahead(columnFile, "column.append", "first += n", "if err := c.endPage(s, false); err != nil { return err }")},
		caughtBy: parquetWriters().saying("another cut into batches"),
	},
	{
		name: "parquet-null-as-a-value", rule: "ADR-0005",
		removes:  "NULL is not among the values",
		edits:    []edit{holds(valuesFile, "gatherer.words32", "v.Nulls > 0 && v.IsNull(i)", "false")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-high-bytes-cut", rule: "ADR-0005",
		removes:  "decimals keep their low bytes",
		edits:    []edit{does(valuesFile, "gatherer.fixed", "value = big[width-s.length : width]", "value = big[:s.length]")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-numbers-too-narrow", rule: "ADR-0005",
		removes:  "every number of the dictionary fits into its bits",
		edits:    []edit{reads(chooseFile, "column.width", "encoding.Width(uint32(c.numbers.len() - 1))", "encoding.Width(uint32(c.numbers.len()-1) / map[bool]uint32{true: 2, false: 1}[$on])")},
		caughtBy: parquetWriters(),
	},
	{
		name: "parquet-no-width", rule: "ADR-0005",
		removes:  "a page without numbers has their width",
		edits:    []edit{reads(chooseFile, "column.encode", "append(dst, 1)", "append(dst, map[bool][]byte{false: {1}}[$on]...)")},
		caughtBy: parquetNative("TestAPageOfNULLsInAChunkWithADictionary"),
	},
	{
		name: "parquet-width-of-zero", rule: "ADR-0005",
		removes:  "numbers have one bit at least",
		edits:    []edit{reads(hybridFile, "Width", "n := 1", "n := 1; if $on { n = 0 }")},
		caughtBy: parquetEncoding("TestWidthIsNeverZero"),
	},
	{
		name: "parquet-groups-not-of-eight", rule: "ADR-0005",
		removes:  "packed values come in groups of eight",
		edits:    []edit{reads(hybridFile, "AppendHybrid", "(packed-i)&7", "(packed-i)&map[bool]int{true: 0, false: 7}[$on]")},
		caughtBy: parquetEncoding("TestHybridIsReadBack"),
	},
	{
		name: "parquet-miniblock-not-filled-up", rule: "ADR-0005",
		removes:  "the last miniblock is filled up with zeros",
		edits:    []edit{does(deltaFile, "appendMiniBlocks", "clear(mini[n:])", "")},
		caughtBy: parquetEncoding("TestDeltasAreReadBack"),
	},
	{
		name: "parquet-miniblock-carry", rule: "ADR-0005",
		removes:  "bits that do not fit into a word go into the next",
		edits:    []edit{does(deltaFile, "pack64", "word = x >> (width - used)", "word = 0")},
		caughtBy: parquetEncoding("TestDeltasAreReadBack"),
	},
	{
		name: "parquet-equal-hash-equal-value", rule: "ADR-0005",
		removes:  "values of one hash have numbers of their own",
		edits:    []edit{holds(dictionaryFile, "Bytes.number", "string(d.Value(s.number-1)) == string(value)", "true")},
		caughtBy: parquetDictionary("TestValuesOfOneHashStayApart"),
	},
	{
		name: "parquet-dictionary-of-the-group-before", rule: "ADR-0005",
		removes:  "a row group starts with an empty dictionary",
		edits:    []edit{does(dictionaryFile, "", "clear(d.slots) d.shift = 64 - bits.Len(uint(len(d.slots)-1))", "d.shift = 64 - bits.Len(uint(len(d.slots)-1))")},
		caughtBy: parquetDictionary("TestValuesAreNumberedAsTheyCome"),
	},
}
