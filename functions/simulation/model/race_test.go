//go:build race

package model

func init() { raceDetector = true }
