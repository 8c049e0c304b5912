package session

import (
	"errors"
	"fmt"
	"io"
	"os"

	"signalbox/internal/session/terminal"
)

// textFolder holds a record of the readable text of a program that draws: its output before it began to
// draw, and then the lines that watchers get.
const textFolder = "text"

// copyUndrawn copies the output before drawing from the record, and ends a sequence whose end was held back.
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

// tellText tells watchers readable text, and records it.
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

// plain hides nothing.
type plain struct{ io.Writer }

// Close implements io.Closer.
func (plain) Close() error { return nil }

// hide hides the marker's code and secrets in a line of the screen: a program that draws may assemble one from parts printed
// in another order.
func (h *host) hide(line string) string {
	line = h.redactor.String(line)
	if h.secretCode == nil {
		return line
	}
	return h.secretCode.String(line)
}

// hiding returns a Writer that hides the marker's code and writes to another.
func (h *host) hiding(to writerFunc) io.WriteCloser {
	if h.secretCode == nil {
		return plain{to}
	}
	return h.secretCode.Writer(to)
}
