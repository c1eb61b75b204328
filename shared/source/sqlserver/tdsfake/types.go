package tdsfake

// Type is a type of SQL Server, by its name in the catalog.
type Type struct {
	Name             string
	Length           int // of text and bytes; -1 is max
	Precision, Scale int
}

// max reports whether values come in pieces of unknown number.
func (t Type) max() bool { return t.Length < 0 || t.Name == "xml" }

// describe writes what a client is told of a column's type.
func (t Type) describe(a *answer) {
	sized := func(code byte, unit int) {
		a.bytes(code)
		if t.Length < 0 {
			a.u16(0xFFFF)
		} else {
			a.u16(uint16(t.Length * unit))
		}
	}
	switch t.Name {
	case "bit":
		a.bytes(0x68, 1)
	case "tinyint", "smallint", "int", "bigint":
		a.bytes(0x26, widths[t.Name])
	case "real", "float":
		a.bytes(0x6D, widths[t.Name])
	case "smallmoney", "money":
		a.bytes(0x6E, widths[t.Name])
	case "smalldatetime", "datetime":
		a.bytes(0x6F, widths[t.Name])
	case "date":
		a.bytes(0x28)
	case "time":
		a.bytes(0x29, byte(t.Scale))
	case "datetime2":
		a.bytes(0x2A, byte(t.Scale))
	case "datetimeoffset":
		a.bytes(0x2B, byte(t.Scale))
	case "uniqueidentifier":
		a.bytes(0x24, 16)
	case "decimal", "numeric":
		a.bytes(0x6A, decimalWidth(t.Precision)+1, byte(t.Precision), byte(t.Scale))
	case "nvarchar":
		sized(0xE7, 2)
		a.bytes(collation...)
	case "nchar":
		sized(0xEF, 2)
		a.bytes(collation...)
	case "varchar":
		sized(0xA7, 1)
		a.bytes(collation...)
	case "char":
		sized(0xAF, 1)
		a.bytes(collation...)
	case "varbinary":
		sized(0xA5, 1)
	case "binary":
		sized(0xAD, 1)
	case "timestamp":
		a.bytes(0xAD, 8, 0)
	case "xml":
		a.bytes(0xF1, 0)
	default:
		panic("a column of type " + t.Name)
	}
}

var widths = map[string]byte{
	"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "real": 4, "float": 8, "smallmoney": 4, "money": 8, "smalldatetime": 4, "datetime": 8,
}

func decimalWidth(precision int) byte {
	switch {
	case precision <= 9:
		return 4
	case precision <= 19:
		return 8
	case precision <= 28:
		return 12
	}
	return 16
}

func timeWidth(scale int) byte {
	switch {
	case scale <= 2:
		return 3
	case scale <= 4:
		return 4
	}
	return 5
}
