package modeltest

import (
	"crypto/sha256"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
)

// attempt is a turn that was asked for. Sessions have paths of their own.
type attempt struct {
	session string
	prompt  [sha256.Size]byte
	turn    int
	title   bool
}

// attempts counts how often each was.
type attempts struct {
	mutex  sync.Mutex
	counts map[attempt]int
}

func (a *attempts) next(requested string, c Conversation, turn int) int {
	asked := attempt{path.Dir(requested), sha256.Sum256([]byte(c.Prompt)), turn, len(c.Tools) == 0}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.counts[asked]++
	return a.counts[asked]
}

// numbers makes ids that no other answer of the server has.
type numbers struct{ last atomic.Int64 }

func (n *numbers) next() string { return strconv.FormatInt(n.last.Add(1), 10) }
