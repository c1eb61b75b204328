// Package ledger compares what docs/ says about tests with the tests. In
// invariants.yaml every rule of the contract, in every shape of an export, is
// guarded by a test that is there, or the ledger says why not; in hazards.md
// every known fault has its tests or a reason. Tests only.
package ledger
