package rest

import (
	"maps"
	"sync"

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

func (m *meter) called(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sum.Calls[kind]++
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

// budget keeps what a server said. A server can't fill our memory with limits of many names.
func (m *meter) budget(name string, b forge.Budget) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.sum.Budgets[name]; known || len(m.sum.Budgets) < 32 {
		m.sum.Budgets[name] = b
	}
}
