package rowtype

// SQLServerTable is how SQL Server's types are delivered (reference §4.3). Of a
// time with a hundred nanoseconds the last digit is left out, and of a
// datetimeoffset the offset: both are lossy.
var SQLServerTable = Table{
	{Of: SQLServerType{Name: "bit"}, Type: Type{Kind: Bool}, Fidelity: Exact},
	{Of: SQLServerType{Name: "tinyint"}, Declared: "`tinyint`, 0 to 255", Type: Type{Kind: Int16}, Fidelity: Compatible},
	{Of: SQLServerType{Name: "smallint"}, Type: Type{Kind: Int16}, Fidelity: Exact},
	{Of: SQLServerType{Name: "int"}, Type: Type{Kind: Int32}, Fidelity: Exact},
	{Of: SQLServerType{Name: "bigint"}, Type: Type{Kind: Int64}, Fidelity: Exact},
	{Of: SQLServerType{Name: "real"}, Type: Type{Kind: Float32}, Fidelity: Exact},
	{Of: SQLServerType{Name: "float"}, Type: Type{Kind: Float64}, Fidelity: Exact},
	{Of: SQLServerType{Name: "decimal", Precision: 18, Scale: 2}, Declared: "`decimal(p,s)`", Type: Type{Kind: Decimal}, Fidelity: Exact},
	{Of: SQLServerType{Name: "numeric", Precision: 18, Scale: 2}, Declared: "`numeric(p,s)`", Type: Type{Kind: Decimal}, Fidelity: Exact},
	{Of: SQLServerType{Name: "money"}, Type: Type{Kind: Decimal, Precision: 19, Scale: 4}, Fidelity: Compatible},
	{Of: SQLServerType{Name: "smallmoney"}, Type: Type{Kind: Decimal, Precision: 10, Scale: 4}, Fidelity: Compatible},
	{Of: SQLServerType{Name: "date"}, Type: Type{Kind: Date}, Fidelity: Exact},
	{Of: SQLServerType{Name: "time", Scale: 6}, Declared: "`time(0)` to `time(6)`", Type: Type{Kind: Time}, Fidelity: Exact},
	{Of: SQLServerType{Name: "time", Scale: 7}, Type: Type{Kind: Time}, Fidelity: Lossy},
	{Of: SQLServerType{Name: "datetime2", Scale: 6}, Declared: "`datetime2(0)` to `datetime2(6)`", Type: Type{Kind: Timestamp}, Fidelity: Exact},
	{Of: SQLServerType{Name: "datetime2", Scale: 7}, Type: Type{Kind: Timestamp}, Fidelity: Lossy},
	{Of: SQLServerType{Name: "smalldatetime"}, Type: Type{Kind: Timestamp}, Fidelity: Compatible},
	{Of: SQLServerType{Name: "datetime"}, Declared: "`datetime`, its ticks rounded to microseconds", Type: Type{Kind: Timestamp}, Fidelity: Compatible},
	{Of: SQLServerType{Name: "datetimeoffset", Scale: 7}, Declared: "`datetimeoffset(n)`, the instant without its offset", Type: Type{Kind: Timestamp, UTC: true}, Fidelity: Lossy},
	{Of: SQLServerType{Name: "char"}, Declared: "`char(n)`, padding and all", Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCodePage},
	{Of: SQLServerType{Name: "varchar"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCodePage},
	{Of: SQLServerType{Name: "text"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCodePage},
	{Of: SQLServerType{Name: "nchar"}, Declared: "`nchar(n)`, padding and all", Type: Type{Kind: Text}, Fidelity: Exact, Refuses: halfAPair},
	{Of: SQLServerType{Name: "nvarchar"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: halfAPair},
	{Of: SQLServerType{Name: "ntext"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: halfAPair},
	{Of: SQLServerType{Name: "binary"}, Declared: "`binary(n)`, with its padding", Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: SQLServerType{Name: "varbinary"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: SQLServerType{Name: "image"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: SQLServerType{Name: "timestamp"}, Declared: "`rowversion`, also called `timestamp`: 8 bytes, no date", Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: SQLServerType{Name: "uniqueidentifier"}, Declared: "`uniqueidentifier`, in the order of its text", Type: Type{Kind: UUID}, Fidelity: Exact},

	{Of: SQLServerType{Name: "xml"}},
	{Of: SQLServerType{Name: "hierarchyid"}},
	{Of: SQLServerType{Name: "geometry"}},
	{Of: SQLServerType{Name: "geography"}},
	{Of: SQLServerType{Name: "sql_variant"}, Declared: "`sql_variant`, whose text does not say which type it had"},
	{Of: SQLServerType{Name: "json"}, Declared: "`json`"},
	{Of: SQLServerType{Name: "vector"}, Declared: "`vector`, and what later versions bring"},
}

const (
	notOfCodePage = "bytes that the code page has no character for"
	halfAPair     = "half of a surrogate pair"
)
