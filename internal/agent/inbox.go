package agent

import (
	"errors"
	"io"
	"sync"
)

// maxTold is how much may wait to be read by a program, in bytes.
const maxTold = 4 * maxLine

// ErrDeaf: the program does not read its standard input.
var ErrDeaf = errors.New("it does not read what it is told")

// inbox is a program's standard input. Writing to it never blocks: a program that reads nothing must not stop us from reading its output.
type inbox struct {
	first io.Reader
	mu    sync.Mutex
	more  *sync.Cond
	text  []byte
	over  bool
}

// Read implements io.Reader.
func (i *inbox) Read(p []byte) (int, error) {
	if i.first != nil {
		n, err := i.first.Read(p)
		if errors.Is(err, io.EOF) {
			i.first, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.text) == 0 && !i.over {
		i.more.Wait()
	}
	if len(i.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, i.text)
	i.text = i.text[n:]
	return n, nil
}

func (i *inbox) put(text []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.text)+len(text) > maxTold {
		return ErrDeaf
	}
	i.text = append(i.text, text...)
	i.more.Signal()
	return nil
}

func (i *inbox) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	i.more.Signal()
}
