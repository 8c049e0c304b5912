// Package lazy owns what is made when it's first asked for. A command that starts in milliseconds uses few of the patterns of the packages that it's
// built of. It imports nothing of ours, and every package may import it.
package lazy

import (
	"regexp"
	"sync"
)

// Expression is a regular expression that is compiled on first use. As a variable of a package it costs nothing before main.
type Expression struct {
	Text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Regexp returns the compiled expression. A wrong one panics here, as with [regexp.MustCompile].
func (e *Expression) Regexp() *regexp.Regexp {
	e.once.Do(func() { e.compiled = regexp.MustCompile(e.Text) })
	return e.compiled
}

// Pattern compiles an expression on first use. It makes two allocations where [sync.OnceValue] makes four.
func Pattern(expression string) func() *regexp.Regexp {
	return (&Expression{Text: expression}).Regexp
}
