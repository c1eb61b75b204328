// Package contract is what a reader of an export may rely on, and nothing
// else: manifest, success marker, parts and their identity, cursor document,
// run ids, object names, the resume decision matrix and verdicts. Layer: leaf.
//
// The bytes are those of Rivet 0.32 (ADR-0012, M1 to M10; reference §5), plus
// additive fields that its readers ignore.
package contract
