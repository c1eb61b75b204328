// Package e2e runs whole exports as a user does: the binary, a config, real
// servers, and readers that know nothing of this project. Layer: main.
//
// What a test reads of a destination is what a Success manifest lists, and
// nothing else.
package e2e
