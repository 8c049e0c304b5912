package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"syscall"
	"time"
)

// streams connects a program's standard streams with a Command's reader and writers.
type streams struct {
	child   [3]*os.File    // what the program gets as 0, 1 and 2
	release []*os.File     // those of them that are ours to close
	feed    io.WriteCloser // our end of stdin; nil when there is nothing to copy
	input   io.Reader
	feedErr error
	fed     chan struct{} // the copying of input ended

	outputs []*output
	sink    *sink
	ended   sync.WaitGroup
	closed  chan struct{} // every output ended

	terminal *os.File // our end of the program's terminal; nil when it has none
	resize   <-chan TerminalSize
}

func newStreams(c Command) (_ *streams, err error) {
	s := &streams{
		input:  c.Stdin,
		sink:   &sink{begun: time.Now(), left: cmp.Or(c.OutputLimit, math.MaxInt64)},
		fed:    make(chan struct{}),
		closed: make(chan struct{}),
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if c.Terminal != nil {
		return s, s.openTerminal(c)
	}
	switch file, ok := c.Stdin.(*os.File); {
	case ok:
		s.child[0], s.input = file, nil
	case c.Stdin == nil:
		s.child[0], err = os.Open(os.DevNull)
		s.release = append(s.release, s.child[0])
	default:
		var ours *os.File
		if s.child[0], ours, err = os.Pipe(); err == nil {
			s.feed = ours
		}
		s.release = append(s.release, s.child[0])
	}
	if err != nil {
		return nil, fmt.Errorf("open standard input: %w", err)
	}
	if s.child[1], err = s.openOutput(c.Stdout); err != nil {
		return nil, fmt.Errorf("open standard output: %w", err)
	}
	// Only one pipe for one Writer keeps the order in which both were printed.
	if s.child[2] = s.child[1]; !same(c.Stdout, c.Stderr) {
		if s.child[2], err = s.openOutput(c.Stderr); err != nil {
			return nil, fmt.Errorf("open standard error: %w", err)
		}
	}
	return s, nil
}

func (s *streams) openOutput(to io.Writer) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.release = append(s.release, theirs)
	s.outputs = append(s.outputs, &output{pipe: ours, to: to, sink: s.sink})
	return theirs, nil
}

// pump starts the copying, once the program has its ends.
func (s *streams) pump() {
	s.releaseChild()
	go s.copyInput()
	for _, o := range s.outputs {
		s.ended.Go(o.copy)
	}
	go func() {
		s.ended.Wait()
		close(s.closed)
	}()
	if s.resize != nil {
		go s.followSize()
	}
}

func (s *streams) copyInput() {
	defer close(s.fed)
	if s.feed == nil {
		return
	}
	_, err := io.Copy(s.feed, s.input)
	// A program needn't read all of its input, and the rest is useless once it has ended.
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
		s.feedErr = err
	}
	_ = s.feed.Close()
}

// finish returns when all output of the tree was passed on. It is called after the tree's end.
func (s *streams) finish() error {
	for _, o := range s.outputs {
		_ = o.pipe.SetReadDeadline(time.Unix(1, 0)) // copy takes what is there and returns
	}
	<-s.closed
	if s.feed != nil {
		_ = s.feed.Close()
	}
	select {
	case <-s.fed:
		return errors.Join(s.feedErr, s.sink.err)
	case <-time.After(lastWords):
		// Stdin's Read does not return; its result is no longer needed.
		return s.sink.err
	}
}

func (s *streams) close() {
	s.releaseChild()
	for _, o := range s.outputs {
		_ = o.pipe.Close()
	}
	if s.feed != nil {
		_ = s.feed.Close()
	}
}

func (s *streams) releaseChild() {
	for _, file := range s.release {
		_ = file.Close()
	}
	s.release = nil
}

// same reports whether both writers are one. Writers of a type that can't be compared are not.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}
