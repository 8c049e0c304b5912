package command

import (
	"io"
	"os"
	"sync"

	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// mask takes secrets out of all that a command prints, whichever front end prints it and wherever
// its text came from: what a document or a log holds was redacted when it was written, an error
// or a program's answer was not. It sees through colours, so it needs no order with cleaning.
type mask struct {
	mu       sync.Mutex
	redactor *redact.Redactor
}

// use replaces what is known so far: the secrets of this process's environment by their names. What prints nothing has no mask.
func (m *mask) use(r *redact.Redactor) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.redactor = r
}

func (m *mask) known() *redact.Redactor {
	if m == nil {
		return redact.New(nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.redactor == nil {
		m.redactor = redact.New(wire.SecretsOf(os.Environ(), nil))
	}
	return m.redactor
}

// maskedWriter redacts each write for itself, because it holds nothing back: a question has to be
// seen before its answer. What this package prints, it prints in whole lines.
type maskedWriter struct {
	to   io.Writer
	mask *mask
}

func (w maskedWriter) Write(p []byte) (int, error) {
	if _, err := w.to.Write(w.mask.known().Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
