// Package lazy owns what is made when it's first asked for. A command that starts in milliseconds uses few of the patterns of the packages that it's
// built of. It imports nothing of ours, and every package may import it.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern compiles an expression on first use. A wrong one panics there, as with [regexp.MustCompile].
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
