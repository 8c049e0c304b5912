package github

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
)

// meter counts calls and keeps what the server says of its budgets.
type meter struct {
	mu  sync.Mutex
	sum forge.Use
}

func newMeter() *meter {
	return &meter{sum: forge.Use{Calls: map[string]int{}, Budgets: map[string]forge.Budget{}}}
}

func (m *meter) use() forge.Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	copied := m.sum
	copied.Calls, copied.Budgets = maps.Clone(m.sum.Calls), maps.Clone(m.sum.Budgets)
	return copied
}

func (m *meter) called(req *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Calls[kindOf(req)]++
}

func (m *meter) unchanged() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Unchanged++
}

func (m *meter) joined() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Joined++
}

// budget reads GitHub's headers. Servers without rate limits, as Enterprise's are by default, have none.
func (m *meter) budget(h http.Header) {
	limit, err := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	if err != nil {
		return
	}
	remaining, _ := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	reset, _ := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	m.mu.Lock()
	defer m.mu.Unlock()
	name := h.Get("X-Ratelimit-Resource")
	if _, known := m.sum.Budgets[name]; known || len(m.sum.Budgets) < 32 { // GitHub has about 12; a server can't fill our memory
		m.sum.Budgets[name] = forge.Budget{Limit: limit, Remaining: remaining, Reset: time.Unix(reset, 0)}
	}
}

// words are the parts of paths that are neither names nor numbers.
var words = []string{"access_tokens", "actions", "app", "branches", "check-runs", "collaborators", "comments", "commits", "graphql",
	"installation", "installations", "issues", "jobs", "labels", "logs", "merge", "permission", "protection", "pulls", "reactions",
	"reviews", "rules", "search", "status", "statuses"}

// kindOf names the kind of a call: GET issues/*/comments.
func kindOf(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.EscapedPath(), "/"), "/")
	if len(parts) > 2 && parts[0] == "api" && parts[1] == "v3" {
		parts = parts[2:]
	}
	if len(parts) > 1 && parts[0] == "api" {
		parts = parts[1:]
	}
	if parts[0] == "repos" && len(parts) >= 3 {
		parts = append([]string{"repository"}, parts[3:]...)
	}
	for i := 1; i < len(parts); i++ {
		if !slices.Contains(words, parts[i]) || parts[i-1] == "branches" || parts[i-1] == "labels" {
			parts[i] = "*"
		}
	}
	if len(parts) > 1 && parts[0] == "repository" {
		parts = parts[1:]
	}
	return req.Method + " " + strings.Join(parts, "/")
}
