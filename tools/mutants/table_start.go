package main

var startMutants []mutant
