package wiring

import "sync"

// cache keeps what was made for a key. Making fails as often as it is tried.
type cache[K comparable, V any] struct {
	mu   sync.Mutex
	made map[K]V
}

func (c *cache[K, V]) get(key K, make1 func() (V, error)) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.made[key]; ok {
		return v, nil
	}
	v, err := make1()
	if err != nil {
		return v, err
	}
	if c.made == nil {
		c.made = make(map[K]V)
	}
	c.made[key] = v
	return v, nil
}
