// Package lapstrake extracts tables from databases into Parquet or CSV on
// object stores, on stateless functions, and leaves a contract that a reader
// can trust: parts, then manifest.json, then _SUCCESS, then a fenced cursor.
//
// This package holds no code: it is the map of the repository. Read one row's
// way through the files in docs/architecture.md.
//
//	cmd/lapstrake        the command line: all four functions in one process
//	functions/planner    starts, resumes and sweeps runs
//	functions/chunk      extracts one chunk
//	functions/finalizer  publishes a run whose chunks are completed
//	functions/validator  judges what a prefix holds when its marker appears
//	functions/*/aws      the AWS Lambda mains of the four
//
//	shared/contract      what a reader may rely on: manifest, marker, cursor, names
//	shared/commit        the order of the writes (I1 to I8, M1 to M10)
//	shared/extract       the loop of a chunk
//	shared/verify        M5, driven by the manifest
//	shared/prove         that the tasks of runs partition the key space
//	shared/chunkplan     how an export is cut into chunks
//	shared/cost          what a run is expected to cost on a cloud
//	shared/exportconfig  rivet.yaml
//	shared/wire          messages between the functions
//	shared/fault         classes and codes of failures
//	shared/rowtype, rowbatch, keyspace, clock   types, batches, ranges, time
//
//	shared/source        the seam to databases, and its drivers
//	shared/partfile      the part formats: parquet, csv
//	shared/destination   the seam to object stores, and its drivers
//	shared/runstate      the seam to the table that coordinates runs, and its drivers
//	shared/taskqueue     the seam to queues, and its drivers
//	shared/secrets, telemetry, notify, report   what their names say
//	shared/wiring        puts the parts together: the only importer of drivers
//
//	e2e, localstack      whole exports, on real servers and on a local cloud
//	docs, examples       documentation, and configs that a test runs
//	tools                test servers, suites, packaging
package lapstrake
