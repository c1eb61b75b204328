// Package commit is the order of the writes that make an export trustworthy:
// part, record, sidecar, manifest, marker, cursor (I1 to I3, M1 to M10, and
// architecture §2.2 to §2.7). Layer: L2 (execution).
//
// Everything here is a conditional write on the destination, and everything may
// be done by several processes at once, any of which may stop at any point: the
// next one finds out from the objects themselves how far the others came. No
// step relies on a clock, a lock or the run's table.
package commit
