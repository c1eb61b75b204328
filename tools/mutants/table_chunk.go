package main

var chunkMutants []mutant
