// Package testenv tells tests where the servers of this test run are.
//
// `make test` starts the servers and sets one variable a server; a plain
// `go test ./...` has none of them, and the tests that need one skip with the
// reason. With LAPSTRAKE_REQUIRE=all, or a comma-separated list of names, a
// missing server is a failure: a skipped suite never looks green.
package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Variables that `make test` sets.
const (
	PostgresURL      = "LAPSTRAKE_TEST_POSTGRES_URL"        // superuser URL of the default server
	PostgresOldURL   = "LAPSTRAKE_TEST_POSTGRES_OLDEST_URL" // lowest supported version
	PostgresNewURL   = "LAPSTRAKE_TEST_POSTGRES_NEWEST_URL" // highest supported version
	MariaDBURL       = "LAPSTRAKE_TEST_MARIADB_URL"         // MariaDB as root: what is installed
	MariaDBNewURL    = "LAPSTRAKE_TEST_MARIADB_NEWEST_URL"  // highest tested version
	MongoDBURL       = "LAPSTRAKE_TEST_MONGODB_URL"         // SecantusDB in MongoDB's place: a replica set of one
	S3Endpoint       = "LAPSTRAKE_TEST_S3_ENDPOINT"         // versitygw: key test, secret testtest
	AWSEndpoint      = "LAPSTRAKE_TEST_AWS_ENDPOINT"        // MiniStack: all of AWS, any credentials
	SQSEndpoint      = "LAPSTRAKE_TEST_SQS_ENDPOINT"        // ElasticMQ
	LambdaEmulator   = "LAPSTRAKE_TEST_RIE"                 // path of the aws-lambda-rie binary
	ReaderPython     = "LAPSTRAKE_TEST_PYTHON"              // a Python with pyarrow, duckdb, polars and datafusion
	UpstreamCLI      = "LAPSTRAKE_TEST_RIVET"               // path of the upstream's rivet binary
	SharedReferences = "LAPSTRAKE_TEST_SHARED"              // folder with reference/ and hazards/, if there is one
)

// Server returns the value of the variable name, or skips the test. It fails
// the test instead when LAPSTRAKE_REQUIRE is "all" or lists the name.
func Server(t testing.TB, name string) string {
	t.Helper()
	if v := os.Getenv(name); v != "" {
		return v
	}
	require := os.Getenv("LAPSTRAKE_REQUIRE")
	if require == "all" || slices.Contains(strings.Split(require, ","), name) {
		t.Fatalf("%s is not set, and LAPSTRAKE_REQUIRE=%s forbids skipping", name, require)
	}
	t.Skipf("%s is not set: run `make test`, which starts the server", name)
	return ""
}
