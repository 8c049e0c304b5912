package rest

import (
	"container/list"
	"net/http"
	"strings"
	"sync"
)

const (
	// maxCached bounds the memory of one repository's driver. It holds some hundred answers.
	maxCached = 16 << 20
	// maxCachedAnswer keeps one answer from displacing all others.
	maxCachedAnswer = 2 << 20
)

// cache keeps answers that have an ETag, the most recently used ones. The zero value is ready.
type cache struct {
	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	// order has the most recently used in front.
	order list.List
}

type cached struct {
	key    string
	answer answer
}

func (c *cache) get(key string) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byKey[key]
	if !ok {
		return answer{}, false
	}
	c.order.MoveToFront(found)
	return found.Value.(cached).answer, true
}

func (c *cache) put(key string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byKey[key]; ok {
		c.drop(old)
	}
	if a.header.Get("ETag") == "" || len(a.body) > maxCachedAnswer {
		return
	}
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	c.byKey[key] = c.order.PushFront(cached{key, a})
	c.size += len(a.body)
	for c.size > maxCached {
		c.drop(c.order.Back())
	}
}

// renew keeps a known answer with the headers that its confirmation has. A list whose page is full stays as it is when it grows, and only a header
// says that there is another page.
func (c *cache) renew(key string, known answer, confirmed http.Header) answer {
	known.header = known.header.Clone()
	for name, values := range confirmed {
		if !strings.HasPrefix(name, "Content-") {
			known.header[name] = values
		}
	}
	c.put(key, known)
	return known
}

func (c *cache) drop(e *list.Element) {
	gone := c.order.Remove(e).(cached)
	delete(c.byKey, gone.key)
	c.size -= len(gone.answer.body)
}
