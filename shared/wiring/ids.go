package wiring

import (
	"crypto/rand"
	mathrand "math/rand/v2"
)

// IDs makes identities from the operating system's randomness.
type IDs struct{}

// NewID returns 130 bits in 26 letters and digits.
func (IDs) NewID() string { return rand.Text() }

// Jitter spreads retries; it needs no quality.
func (IDs) Jitter() float64 { return mathrand.Float64() }
