package main

var resumeMutants []mutant
