// Package ledger compares docs/invariants.yaml with the tests: every rule of the
// contract, in every shape of an export, is guarded by a test that is there, or
// the ledger says why not. Tests only.
package ledger
