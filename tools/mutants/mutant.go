package main

import "strings"

// mutant is one named defect: a guard of the protocol that is taken out, and the
// test that has to notice.
type mutant struct {
	name string
	// rule names what is broken, as architecture and decisions call it: T8, F6, V10.
	rule string
	// removes says in a sentence what no longer holds.
	removes string
	// core is set for the mutants that the design lists: each `make test` tries them.
	core     bool
	edits    []edit
	caughtBy catcher
}

// edit replaces one piece of a file, only while its mutant is switched on.
type edit struct {
	file string // below the repository's root
	// in is the function, as "name" or "Type.name", that holds the piece.
	in string
	// old is the piece. White space does not matter; it has to be there once.
	old, new string
	kind     kind
}

type kind int

const (
	// condition: old and new are boolean expressions.
	condition kind = iota
	// statements: old and new are whole statements that declare nothing which is
	// used after them.
	statements
	// insertion: new are statements that run before old, which stays.
	insertion
	// verbatim: new takes the place of old as it is written, with the switch
	// wherever it says $on.
	verbatim
)

// holds puts one boolean expression in the place of another.
func holds(file, in, old, new string) edit { return edit{file, in, old, new, condition} }

// does puts statements in the place of others; "" for none.
func does(file, in, old, new string) edit { return edit{file, in, old, new, statements} }

// ahead puts statements before the one that old begins; they may return.
func ahead(file, in, old, new string) edit { return edit{file, in, old, new, insertion} }

// reads puts new, with $on for the switch, in the place of old.
func reads(file, in, old, new string) edit { return edit{file, in, old, new, verbatim} }

// catcher is the test that turns red.
type catcher struct {
	pkg  string // below the repository's root
	test string // its name, to the top-level test or down to a subtest
	// says is a part of what the test has to print, where its name alone could
	// mean that it failed for another reason.
	says string
	args []string // of the test binary
}

func (c catcher) saying(text string) catcher {
	c.says = text
	return c
}

// pattern is the -test.run of the catcher: this test and no other.
func (c catcher) pattern() string {
	var b strings.Builder
	for i, part := range strings.Split(c.test, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString("^" + quoteMeta(strings.ReplaceAll(part, " ", "_")) + "$")
	}
	return b.String()
}

// command is what tells two runs of a test binary apart.
func (c catcher) command() string { return c.pkg + " " + c.pattern() + " " + strings.Join(c.args, " ") }

// mutants are all of them, in the order of the protocol.
func mutants() []mutant {
	var all []mutant
	for _, table := range [][]mutant{fenceMutants, publishMutants, partMutants, startMutants, resumeMutants, sweepMutants, dispatchMutants, chunkMutants, finalizerMutants, tableMutants, verifyMutants, validatorMutants, cursorMutants, repairMutants, reanchorMutants, revokeMutants, proveMutants, parquetMutants, postgresMutants, mysqlMutants, sqlServerMutants, mongodbMutants} {
		all = append(all, table...)
	}
	return all
}
