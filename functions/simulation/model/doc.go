// Package model explores the rules of the protocol exhaustively: each file holds
// one rule as a handful of processes over a state of a few bytes, and every
// interleaving of their steps is visited, with crashes, stalls and duplicates.
//
// A model shows that a rule is enough by closing without a violation, and that
// each of its parts is needed by a variant without that part that is violated.
// The real handlers are driven by package simulation. Layer: function.
package model
