package intake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"

	"signalbox/internal/forge"
)

// Wakes are what webhooks told and no one has read yet. Equal ones are joined. A nil one has none.
type Wakes struct {
	mu    sync.Mutex
	waits []forge.Wake
	came  chan struct{}
}

// maxWaiting is how many wakes wait before the rest is left to the next look, which finds everything.
const maxWaiting = 1000

// NewWakes returns an empty one.
func NewWakes() *Wakes { return &Wakes{came: make(chan struct{}, 1)} }

// Came is ready when there are wakes to take.
func (w *Wakes) Came() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.came
}

// maxTexts is how many texts of an issue a wake remembers: anyone may write comments.
const maxTexts = 100

// Add adds a wake.
func (w *Wakes) Add(wake forge.Wake) {
	if wake.Nothing() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.waits, func(o forge.Wake) bool {
		return o.Commit == wake.Commit && slices.Equal(o.Numbers, wake.Numbers) && slices.Equal(o.On, wake.On)
	})
	switch {
	case at >= 0:
		w.waits[at].MayStart = w.waits[at].MayStart || wake.MayStart
		if had := w.waits[at].Texts; had == nil {
			w.waits[at].Texts = wake.Texts
		} else if len(had) < maxTexts {
			maps.Copy(had, wake.Texts)
		}
	case len(w.waits) < maxWaiting:
		w.waits = append(w.waits, wake)
	}
	select {
	case w.came <- struct{}{}:
	default:
	}
}

// Take returns all that wait.
func (w *Wakes) Take() []forge.Wake {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.waits
	w.waits = nil
	return all
}

// maxReading is how many webhooks are read at once: each may be large before its signature is known to be wrong.
const maxReading = 8

// Handler answers webhooks at /webhook. read checks one and says where it points.
func Handler(read func(context.Context, http.Header, io.Reader) (forge.Wake, error), wakes *Wakes, logger *slog.Logger) http.Handler {
	reading := make(chan struct{}, maxReading)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhook", func(w http.ResponseWriter, r *http.Request) {
		select {
		case reading <- struct{}{}:
			defer func() { <-reading }()
		default:
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		wake, err := read(r.Context(), r.Header, r.Body)
		switch {
		case errors.Is(err, forge.ErrForged):
			w.WriteHeader(http.StatusUnauthorized)
		case errors.Is(err, forge.ErrForeign):
			w.WriteHeader(http.StatusForbidden)
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusAccepted)
			wakes.Add(wake)
		}
		logger.Debug("webhook", "event", wake.Event, "delivery", wake.Delivery, "numbers", wake.Numbers, "err", err)
	})
	return mux
}
