package main

const (
	postgresPackage  = "shared/source/postgres"
	mysqlPackage     = "shared/source/mysql"
	packetPackage    = mysqlPackage + "/packet"
	sqlServerPackage = "shared/source/sqlserver"
	mongodbPackage   = "shared/source/mongodb"
	extjsonPackage   = mongodbPackage + "/extjson"
	rowbatchPackage  = "shared/rowbatch"

	postgresValues   = postgresPackage + "/values.go"
	postgresNumeric  = postgresPackage + "/numeric.go"
	postgresInterval = postgresPackage + "/interval.go"
	postgresArray    = postgresPackage + "/array.go"
	postgresStream   = postgresPackage + "/stream.go"
	mysqlValues      = mysqlPackage + "/values.go"
	packetValue      = packetPackage + "/value.go"
	packetColumn     = packetPackage + "/column.go"
	packetRow        = packetPackage + "/row.go"
	sqlServerValues  = sqlServerPackage + "/values.go"
	sqlServerRow     = sqlServerPackage + "/row.go"
	sqlServerRead    = sqlServerPackage + "/read.go"
	decimalFile      = rowbatchPackage + "/decimal.go"
	extjsonFile      = extjsonPackage + "/extjson.go"
	extjsonSize      = extjsonPackage + "/size.go"
	mongodbReader    = mongodbPackage + "/reader.go"
)

func postgresDecoding(test string) catcher {
	return catcher{pkg: postgresPackage, test: test, args: []string{"-rapid.nofailfile"}}
}
func mysqlDecoding(test string) catcher { return catcher{pkg: mysqlPackage, test: test} }
func packetDecoding(test string) catcher {
	return catcher{pkg: packetPackage, test: test, args: []string{"-rapid.nofailfile"}}
}
func sqlServerDecoding(test string) catcher { return catcher{pkg: sqlServerPackage, test: test} }
func extjsonEncoding(test string) catcher {
	return catcher{pkg: extjsonPackage, test: test, args: []string{"-rapid.nofailfile"}}
}
func rowbatchDecimals(test string) catcher {
	return catcher{pkg: rowbatchPackage, test: test, args: []string{"-rapid.nofailfile"}}
}
func mongodbReading(test string) catcher { return catcher{pkg: mongodbPackage, test: test} }

// flipped is an expression that is another one while the mutant is on.
func flipped(of, on, off string) string {
	return "map[bool]" + of + "{true: " + on + ", false: " + off + "}[$on]"
}
