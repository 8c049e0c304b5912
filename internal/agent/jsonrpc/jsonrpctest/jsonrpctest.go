// Package jsonrpctest has fake programs that speak JSON-RPC, for the tests of drivers.
package jsonrpctest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"signalbox/internal/process"
)

// Message is a message to a program: P is the params of a request, R the result of a response.
type Message[P, R any] struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Params P      `json:"params"`
	Result R      `json:"result"`
	Error  struct {
		Code int `json:"code"`
	} `json:"error"`
}

// Heard returns the next message to a fake program. It ends the program if there is none.
func Heard[M any](in *bufio.Reader) M {
	m, err := hears[M](in)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return m
}

// hears returns the next message to a program.
func hears[M any](in *bufio.Reader) (m M, err error) {
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read the next message: %w", err)
	}
	return m, nil
}

// Talking is a program that prints its side of a conversation in JSON-RPC. Before a response it waits for the request, and after a request for the
// response.
type Talking[P, R any] struct {
	Stream string
	Told   []Message[P, R]
}

// Exec implements process.Executor.
func (p *Talking[P, R]) Exec(_ context.Context, c process.Command) (process.Result, error) {
	in := bufio.NewReader(c.Stdin)
	for line := range strings.Lines(p.Stream) {
		var m struct {
			ID     *int
			Method string
		}
		_ = json.Unmarshal([]byte(line), &m) // what is no message is printed as it is
		if m.ID != nil && m.Method == "" {
			if err := p.hear(in, *m.ID, true); err != nil {
				return process.Result{}, err
			}
		}
		if _, err := io.WriteString(c.Stdout, line); err != nil {
			return process.Result{}, err
		}
		if m.ID != nil && m.Method != "" {
			if err := p.hear(in, *m.ID, false); err != nil {
				return process.Result{}, err
			}
		}
	}
	_, err := io.Copy(io.Discard, in) // the driver closes the input at the end
	return process.Result{}, err
}

// hear reads messages until it finds a request with this number, or the response to one.
func (p *Talking[P, R]) hear(in *bufio.Reader, id int, request bool) error {
	for !slices.ContainsFunc(p.Told, func(m Message[P, R]) bool { return m.ID == id && (m.Method != "") == request }) {
		m, err := hears[Message[P, R]](in)
		if err != nil {
			return err
		}
		p.Told = append(p.Told, m)
	}
	return nil
}

// Response returns the response to one of the program's own requests.
func (p *Talking[P, R]) Response(id int) (found Message[P, R]) {
	for _, m := range p.Told {
		if m.Method == "" && m.ID == id {
			found = m
		}
	}
	return found
}

// Requests returns the requests with this method.
func (p *Talking[P, R]) Requests(method string) []Message[P, R] {
	return slices.DeleteFunc(slices.Clone(p.Told), func(m Message[P, R]) bool { return m.Method != method })
}

// Methods returns the methods of all requests.
func (p *Talking[P, R]) Methods() (all []string) {
	for _, m := range p.Told {
		if m.Method != "" {
			all = append(all, m.Method)
		}
	}
	return all
}
