package contract

// IDSource makes identities that nobody else makes: lease tokens, nonces,
// request ids. It is passed in, so that the simulation can repeat a run.
type IDSource interface {
	// NewID returns a fresh identity of at most 64 characters of [A-Za-z0-9-].
	NewID() string

	// Jitter returns a number in [0, 1), to spread retries. It decides nothing.
	Jitter() float64
}
