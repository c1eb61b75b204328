// Package simulation drives the real handlers over drivers in memory, one call
// at a time, and fails them at every step. It has tests only. Layer: function.
package simulation
