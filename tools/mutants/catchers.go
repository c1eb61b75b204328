package main

import "fmt"

// The packages whose tests catch mutants.
const (
	simulation = "functions/simulation"
	dispatch   = "functions/dispatch"
	planner    = "functions/planner"
	chunk      = "functions/chunk"
	finalizer  = "functions/finalizer"
	runend     = "functions/runend"
	validator  = "functions/validator"
	commit     = "shared/commit"
	extract    = "shared/extract"
	verify     = "shared/verify"
	contract   = "shared/contract"
	chunkplan  = "shared/chunkplan"
	memory     = "shared/runstate/memory"

	provePackage = "shared/prove"
)

var catchers = []string{simulation, dispatch, planner, chunk, finalizer, runend, validator, commit, extract, verify, contract, chunkplan, memory, provePackage, parquetPackage, nativePackage, encodingPackage, dictionaryPackage, postgresPackage, mysqlPackage, packetPackage, sqlServerPackage, mongodbPackage, extjsonPackage, rowbatchPackage}

// scheduled is the random simulation, which has to notice within so many seeds. It
// leaves off three minutes before the tests' deadline.
func scheduled(seeds int) catcher {
	return catcher{pkg: schedules, test: "TestSimulation", args: []string{fmt.Sprintf("-seeds=%d", seeds), "-brief", "-test.timeout=10m"}}.saying("broke in")
}

func simulated(test string) catcher  { return catcher{pkg: simulation, test: test} }
func passing(test string) catcher    { return catcher{pkg: dispatch, test: test} }
func planning(test string) catcher   { return catcher{pkg: planner, test: test} }
func chunking(test string) catcher   { return catcher{pkg: chunk, test: test} }
func finalizing(test string) catcher { return catcher{pkg: finalizer, test: test} }
func ending(test string) catcher     { return catcher{pkg: runend, test: test} }
func validating(test string) catcher { return catcher{pkg: validator, test: test} }
func committing(test string) catcher { return catcher{pkg: commit, test: test} }
func extracting(test string) catcher { return catcher{pkg: extract, test: test} }
func verifying(test string) catcher  { return catcher{pkg: verify, test: test} }
func deciding(test string) catcher   { return catcher{pkg: contract, test: test} }
func cutting(test string) catcher    { return catcher{pkg: chunkplan, test: test} }
func recording(test string) catcher  { return catcher{pkg: memory, test: test} }
