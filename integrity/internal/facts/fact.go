package facts

import (
	"sync"
)

// Fact is a named value that is derived from a change: computed at first use, then
// kept for every rule that asks for it.
type Fact[T any] struct {
	derive func(*Set) T
}

// Define makes a fact of the function that derives it.
func Define[T any](derive func(*Set) T) *Fact[T] { return &Fact[T]{derive} }

// Of returns the value for a change. It may be called from several goroutines.
func (f *Fact[T]) Of(c *Set) T {
	value, ok := c.known.Load(f)
	if !ok {
		value, _ = c.known.LoadOrStore(f, sync.OnceValue(func() T { return f.derive(c) }))
	}
	return value.(func() T)()
}

// lazy is a value that is computed at first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(compute func() T) T {
	l.once.Do(func() { l.value = compute() })
	return l.value
}
