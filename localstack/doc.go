// Package localstack runs the packaged functions on a local AWS, end to end.
// Layer: main (tests only).
package localstack
