package clone

import (
	"regexp"
	"sync"
)

// lazyPattern is compiled when it is first asked: most commands ask few.
func lazyPattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
