package main

var sweepMutants []mutant
