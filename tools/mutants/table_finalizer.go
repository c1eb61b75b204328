package main

var finalizerMutants []mutant
