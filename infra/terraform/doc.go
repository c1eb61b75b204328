// Package terraform checks the modules in this folder against the code that
// they deploy, without OpenTofu and without a provider. Layer: main (tests only).
package terraform
