package main

var verifyMutants []mutant
