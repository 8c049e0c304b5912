package session

import (
	"errors"
	"fmt"
	"io"
	"os"

	"signalbox/internal/session/terminal"
)

// textFolder has a record of what there is to read of a program that draws: what it printed before it
// drew, and then the lines that watchers are told.
const textFolder = "text"

// copyUndrawn takes what was printed line by line out of the record, and ends a sequence whose end was held back.
func (h *host) copyUndrawn() error {
	printed, err := openFile(recordFile)
	if err != nil {
		return fmt.Errorf("copy what was printed: %w", err)
	}
	defer func() { _ = printed.Close() }()
	var read terminal.LineReader
	reading := writerFunc(func(p []byte) (int, error) {
		read.Split(p, func(string) bool { return true })
		return len(p), nil
	})
	n, err := io.Copy(io.MultiWriter(h.text, reading), io.LimitReader(printed, h.undrawn))
	if err == nil && read.Sequence.Inside() {
		_, err = h.text.Write([]byte{cancel})
	}
	if n < h.undrawn && err == nil {
		_, err = fmt.Fprintf(h.text, "\n[signalbox: %d bytes are not shown]\n", h.undrawn-n)
	}
	return err
}

// tellText tells watchers what there is to read, and keeps it.
func (h *host) tellText(text []byte) {
	_, _ = h.clean.Write(text)
	if h.text == nil {
		return
	}
	if _, err := h.text.Write(text); err != nil {
		h.dropText(err)
	}
}

func (h *host) dropText(why error) {
	h.log.Error("record lines", "error", errors.Join(why, h.text.Close(), os.RemoveAll(textFolder)))
	h.text = nil
}

// plain is the way on which nothing is hidden.
type plain struct{ io.Writer }

// Close implements io.Closer.
func (plain) Close() error { return nil }

// hide hides the marker's code in a line of the screen, and secrets: a program that moves about may put one together of parts
// that were printed in another order.
func (h *host) hide(line string) string {
	line = h.redactor.String(line)
	if h.secretCode == nil {
		return line
	}
	return h.secretCode.String(line)
}

// hiding is the way to a Writer on which the marker's code is hidden.
func (h *host) hiding(to writerFunc) io.WriteCloser {
	if h.secretCode == nil {
		return plain{to}
	}
	return h.secretCode.Writer(to)
}
