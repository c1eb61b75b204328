package main

func simulated(test string) catcher  { return catcher{pkg: "functions/simulation", test: test} }
func committing(test string) catcher { return catcher{pkg: "shared/commit", test: test} }
func recording(test string) catcher  { return catcher{pkg: "shared/runstate/memory", test: test} }
func extracting(test string) catcher { return catcher{pkg: "shared/extract", test: test} }
func verifying(test string) catcher  { return catcher{pkg: "shared/verify", test: test} }
func validating(test string) catcher { return catcher{pkg: "functions/validator", test: test} }
func deciding(test string) catcher   { return catcher{pkg: "shared/contract", test: test} }
