// Package lazy owns what is made when it's first asked for. A command that starts in milliseconds uses few of the patterns of the packages that it's
// built of. It imports nothing of ours, and every package may import it.
package lazy

import (
	"regexp"
	"sync"
)

type pattern struct {
	once       sync.Once
	expression string
	compiled   *regexp.Regexp
}

// Pattern compiles an expression on first use. A wrong one panics there, as with [regexp.MustCompile].
// It makes two allocations where [sync.OnceValue] makes four: a program has a hundred patterns, made before main.
func Pattern(expression string) func() *regexp.Regexp {
	return (&pattern{expression: expression}).get
}

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.expression) })
	return p.compiled
}
