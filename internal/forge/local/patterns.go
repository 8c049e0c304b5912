package local

import (
	"regexp"
	"sync"
)

// lazyPattern compiles an expression on first use: most commands use few of them.
func lazyPattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
