package git

import (
	"slices"
	"sync"
	"syscall"
)

// comparedLimit bounds the files of a comparison that is kept: few changes have more, and those take long anyway.
const comparedLimit = 10_000

// compared is the last comparison. The same two trees always differ alike, and one change is looked at several times:
// when it is recorded, as a whole, and when it is merged.
type compared struct {
	mu      sync.Mutex
	trees   [2]string
	changes []Change
	counted bool

	index comparedIndex
}

// comparedIndex is the last comparison of the checkout's index with a commit.
type comparedIndex struct {
	mu      sync.Mutex
	of      *indexState
	entries []Change
}

type indexState struct {
	commit     string
	device     uint64
	inode      uint64
	size       int64
	mtim, ctim syscall.Timespec
}

// find returns what was found of the two trees; nil if that is not known. With counted it has sizes and lines.
func (c *compared) find(trees [2]string, counted bool) []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trees != trees || counted && !c.counted {
		return nil
	}
	return slices.Clone(c.changes)
}

func (c *compared) keep(trees [2]string, changes []Change, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(changes) > 0 && len(changes) <= comparedLimit && (counted || c.trees != trees || !c.counted) {
		c.trees, c.changes, c.counted = trees, slices.Clone(changes), counted
	}
}
