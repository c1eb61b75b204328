package rowtype

// PostgresTable is how PostgreSQL's types are delivered (reference §4.1).
var PostgresTable = Table{
	{Of: inCatalog("bool"), Type: Type{Kind: Bool}, Fidelity: Exact},
	{Of: inCatalog("int2"), Type: Type{Kind: Int16}, Fidelity: Exact},
	{Of: inCatalog("int4"), Type: Type{Kind: Int32}, Fidelity: Exact},
	{Of: inCatalog("int8"), Type: Type{Kind: Int64}, Fidelity: Exact},
	{Of: inCatalog("oid"), Type: Type{Kind: Int64}, Fidelity: Compatible},
	{Of: inCatalog("float4"), Type: Type{Kind: Float32}, Fidelity: Exact},
	{Of: inCatalog("float8"), Type: Type{Kind: Float64}, Fidelity: Exact},
	{Of: numericOf(18, 2), Declared: "`numeric(p,s)`, p ≤ 76", Type: Type{Kind: Decimal}, Fidelity: Exact, Refuses: notANumber},
	{Of: inCatalog("date"), Type: Type{Kind: Date}, Fidelity: Exact, Refuses: "infinity, before the year 1"},
	{Of: inCatalog("time"), Type: Type{Kind: Time}, Fidelity: Exact, Refuses: "24:00:00"},
	{Of: inCatalog("timestamp"), Type: Type{Kind: Timestamp}, Fidelity: Exact, Refuses: notInReach},
	{Of: inCatalog("timestamptz"), Type: Type{Kind: Timestamp, UTC: true}, Fidelity: Exact, Refuses: notInReach},
	{Of: inCatalog("text"), Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notUTF8},
	{Of: inCatalog("varchar"), Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notUTF8},
	{Of: inCatalog("bpchar"), Declared: "`char(n)`, padding and all", Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notUTF8},
	{Of: inCatalog("name"), Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notUTF8},
	{Of: PostgresType{Name: "citext", Class: 'b', Modifier: -1}, Type: Type{Kind: Text}, Fidelity: Compatible, Refuses: notUTF8},
	{Of: inCatalog("bytea"), Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: inCatalog("uuid"), Type: Type{Kind: UUID}, Fidelity: Exact},
	{Of: inCatalog("json"), Declared: "`json`, byte for byte", Type: Type{Kind: JSON}, Fidelity: LogicalString, Refuses: notUTF8},
	{Of: inCatalog("jsonb"), Declared: "`jsonb`, the server's text", Type: Type{Kind: JSON}, Fidelity: LogicalString, Refuses: notUTF8},
	{Of: inCatalog("interval"), Type: Type{Kind: Interval}, Fidelity: LogicalString, Refuses: "infinity"},
	{Of: PostgresType{Name: "mood", Class: 'e', Modifier: -1}, Declared: "enums", Type: Type{Kind: Enum}, Fidelity: LogicalString, Refuses: notUTF8},
	{Of: arrayOf(inCatalog("int4")), Declared: "arrays of all these, but not of `numeric`", Type: Type{Kind: List}, Fidelity: Compatible, Refuses: "arrays of arrays, and what their items refuse"},

	{Of: inCatalog("numeric"), Declared: "`numeric` without precision"},
	{Of: numericOf(5, -2), Declared: "`numeric(p,s)` with p > 76, s < 0 or s > p"},
	{Of: inCatalog("money")},
	{Of: inCatalog("timetz")},
	{Of: inCatalog("bit"), Declared: "`bit(n)`"},
	{Of: inCatalog("varbit")},
	{Of: inCatalog("inet")},
	{Of: inCatalog("cidr")},
	{Of: inCatalog("macaddr")},
	{Of: inCatalog("macaddr8")},
	{Of: inCatalog("xml")},
	{Of: inCatalog("tsvector")},
	{Of: inCatalog("tsquery")},
	{Of: inCatalog("jsonpath")},
	{Of: inCatalog("point")},
	{Of: inCatalog("line")},
	{Of: inCatalog("lseg")},
	{Of: inCatalog("box")},
	{Of: inCatalog("path")},
	{Of: inCatalog("polygon")},
	{Of: inCatalog("circle")},
	{Of: inCatalog("pg_lsn")},
	{Of: inCatalog("pg_snapshot")},
	{Of: inCatalog("txid_snapshot")},
	{Of: inCatalog("xid")},
	{Of: inCatalog("xid8")},
	{Of: inCatalog("cid")},
	{Of: inCatalog("tid")},
	{Of: inCatalog("char"), Declared: "`\"char\"`"},
	{Of: inCatalog("refcursor")},
	{Of: inCatalog("aclitem")},
	{Of: inCatalog("int2vector")},
	{Of: inCatalog("oidvector")},
	{Of: inCatalog("pg_node_tree"), Declared: "`pg_node_tree` and what else only the server's own catalog has"},
	{Of: PostgresType{Name: "int4range", BuiltIn: true, Class: 'r', Modifier: -1}, Declared: "ranges, built in or made, unless `money` or `regclass` is in them"},
	{Of: PostgresType{Name: "int4multirange", BuiltIn: true, Class: 'm', Modifier: -1}, Declared: "multiranges, likewise"},
	{Of: PostgresType{Name: "address", Class: 'c', Modifier: -1}, Declared: "composites, likewise"},
	{Of: PostgresType{Name: "hstore", Class: 'b', Modifier: -1}, Declared: "types of extensions: `hstore`, `ltree`, `cube`, `geometry` (hex WKB with its SRID)"},
	{Of: arrayOf(inCatalog("inet")), Declared: "other arrays, also of `numeric`, of composites and of domains over arrays"},
	{Of: inCatalog("regclass"), Declared: "`regclass` and the other `reg` types, and what has one of them in it"},
	{Of: PostgresType{Name: "record", BuiltIn: true, Class: 'p', Modifier: -1}, Declared: "`record`, and what else only a query has"},
}

const (
	notANumber = "NaN, infinity"
	notInReach = "infinity, before the year 1, after the year 294246"
	notUTF8    = "bytes that are not UTF-8, which SQL_ASCII lets through"
)

// catalogOnly are types of columns that only the server's catalog has.
var catalogOnly = map[string]bool{
	"pg_node_tree": true, "pg_ndistinct": true, "pg_dependencies": true, "pg_mcv_list": true,
	"pg_brin_bloom_summary": true, "pg_brin_minmax_multi_summary": true, "gtsvector": true,
}

// inCatalog is a base type of pg_catalog without a modifier.
func inCatalog(name string) PostgresType {
	return PostgresType{Name: name, BuiltIn: true, Class: 'b', Modifier: -1}
}

func numericOf(precision, scale int32) PostgresType {
	t := inCatalog("numeric")
	t.Modifier = precision<<16 | scale&0x7ff + 4
	return t
}

func arrayOf(t PostgresType) PostgresType {
	return PostgresType{Name: "_" + t.Name, BuiltIn: t.BuiltIn, Class: 'b', Modifier: -1, Elem: &t}
}
