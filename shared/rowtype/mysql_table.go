package rowtype

// MySQLTable is how the types of MySQL and MariaDB are delivered (reference
// §4.2).
var MySQLTable = Table{
	{Of: MySQLType{Name: "tinyint", Width: 1}, Declared: "`tinyint(1)`, `bool`", Type: Type{Kind: Bool}, Fidelity: Compatible, Refuses: "other numbers than 0 and 1: set int16"},
	{Of: MySQLType{Name: "tinyint"}, Type: Type{Kind: Int16}, Fidelity: Compatible},
	{Of: MySQLType{Name: "tinyint", Unsigned: true}, Type: Type{Kind: Int16}, Fidelity: Compatible},
	{Of: MySQLType{Name: "smallint"}, Type: Type{Kind: Int16}, Fidelity: Exact},
	{Of: MySQLType{Name: "smallint", Unsigned: true}, Type: Type{Kind: Int32}, Fidelity: Compatible},
	{Of: MySQLType{Name: "mediumint"}, Type: Type{Kind: Int32}, Fidelity: Compatible},
	{Of: MySQLType{Name: "mediumint", Unsigned: true}, Type: Type{Kind: Int32}, Fidelity: Compatible},
	{Of: MySQLType{Name: "int"}, Type: Type{Kind: Int32}, Fidelity: Exact},
	{Of: MySQLType{Name: "int", Unsigned: true}, Type: Type{Kind: Int64}, Fidelity: Compatible},
	{Of: MySQLType{Name: "bigint"}, Type: Type{Kind: Int64}, Fidelity: Exact},
	{Of: MySQLType{Name: "bigint", Unsigned: true}, Type: Type{Kind: UInt64}, Fidelity: Exact},
	{Of: MySQLType{Name: "year"}, Type: Type{Kind: Int16}, Fidelity: Compatible},
	{Of: MySQLType{Name: "bit", Width: 1}, Type: Type{Kind: Bool}, Fidelity: Compatible},
	{Of: MySQLType{Name: "bit", Width: 40}, Declared: "`bit(n)`", Type: Type{Kind: Int64}, Fidelity: Compatible, Refuses: "numbers from 2⁶³ on"},
	{Of: MySQLType{Name: "float"}, Type: Type{Kind: Float32}, Fidelity: Exact},
	{Of: MySQLType{Name: "double"}, Type: Type{Kind: Float64}, Fidelity: Exact},
	{Of: MySQLType{Name: "decimal", Precision: 18, Scale: 2}, Declared: "`decimal(p,s)`", Type: Type{Kind: Decimal}, Fidelity: Exact},
	{Of: MySQLType{Name: "date"}, Type: Type{Kind: Date}, Fidelity: Exact, Refuses: notADay},
	{Of: MySQLType{Name: "datetime", Scale: 6}, Declared: "`datetime(n)`", Type: Type{Kind: Timestamp}, Fidelity: Exact, Refuses: notADay},
	{Of: MySQLType{Name: "timestamp", Scale: 6}, Declared: "`timestamp(n)`", Type: Type{Kind: Timestamp, UTC: true}, Fidelity: Exact, Refuses: "a date of zero"},
	{Of: MySQLType{Name: "time", Scale: 6}, Declared: "`time(n)`", Type: Type{Kind: Time}, Fidelity: Exact, Refuses: "spans below 0 and from 24 hours on, up to 838"},
	{Of: MySQLType{Name: "char"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "varchar"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "tinytext"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "text"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "mediumtext"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "longtext"}, Type: Type{Kind: Text}, Fidelity: Exact, Refuses: notOfCharset},
	{Of: MySQLType{Name: "binary"}, Declared: "`binary(n)`, with its padding", Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "varbinary"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "tinyblob"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "blob"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "mediumblob"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "longblob"}, Type: Type{Kind: Binary}, Fidelity: Exact},
	{Of: MySQLType{Name: "json"}, Declared: "`json`, the server's text byte for byte", Type: Type{Kind: JSON}, Fidelity: LogicalString, Refuses: notOfCharset},
	{Of: MySQLType{Name: "enum"}, Declared: "`enum`, the label", Type: Type{Kind: Enum}, Fidelity: LogicalString, Refuses: notOfCharset},
	{Of: MySQLType{Name: "set"}, Declared: "`set`, the labels", Type: Type{Kind: Enum}, Fidelity: LogicalString, Refuses: notOfCharset},

	{Of: MySQLType{Name: "uuid"}, Declared: "`uuid` of MariaDB"},
	{Of: MySQLType{Name: "inet4"}, Declared: "`inet4` of MariaDB"},
	{Of: MySQLType{Name: "inet6"}, Declared: "`inet6` of MariaDB"},
	{Of: MySQLType{Name: "vector"}},
	{Of: MySQLType{Name: "geometry"}, Declared: "`geometry` and its kin"},
}

const (
	notADay      = "a month or day of zero, a day that is none, the year 0"
	notOfCharset = "bytes that the character set has no character for"
)
