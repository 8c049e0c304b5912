// Package notify owns telling a person who looks elsewhere: on the desktop, through a program of theirs, by a webhook or
// by ntfy. It refuses to decide what is worth telling.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/process"
)

// Config says by which ways to tell; those that are empty are not used.
type Config struct {
	// Desktop shows it on this desktop, with notify-send.
	Desktop bool
	// Command is a program with its arguments. It gets the message as JSON on standard input, and starts in Dir.
	Command []string
	// Dir is the project's folder.
	Dir string
	// Webhook is an address that the message is posted to as JSON, Ntfy a topic's address of a server of ntfy.sh's kind.
	Webhook, Ntfy string
	Exec          process.Executor
}

// Message is one piece of news, cleaned and redacted. Text and Content say it in one string, under the names by which
// Slack and Discord show it.
type Message struct {
	Project string    `json:"project"`
	Request int       `json:"request"`
	RunID   string    `json:"run_id"`
	State   string    `json:"state"`
	Reason  string    `json:"reason_code,omitempty"`
	Title   string    `json:"title"`
	Detail  string    `json:"detail"`
	Next    string    `json:"next,omitempty"`
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Content string    `json:"content"`
	// Urgent: a person is needed.
	Urgent bool `json:"urgent"`
}

// limit is how long one way may take.
const limit = 10 * time.Second

// Any reports whether there is a way at all.
func (c *Config) Any() bool {
	return c.Desktop || len(c.Command) > 0 || c.Webhook != "" || c.Ntfy != ""
}

// Send tells the message by every way and returns the errors of those that failed. It takes 10 s at most.
func (c *Config) Send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body := strings.TrimSpace(m.Detail + "\n" + m.Next)
	m.Text = m.Title + "\n" + body
	m.Content = m.Text
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write notification: %w", err)
	}
	var problems []error
	if c.Desktop {
		urgency := "--urgency=normal"
		if m.Urgent {
			urgency = "--urgency=critical"
		}
		problems = append(problems, c.run(ctx, []string{"notify-send", "--app-name=Signalbox", urgency, "--", m.Title, body}, nil))
	}
	if len(c.Command) > 0 {
		problems = append(problems, c.run(ctx, c.Command, data))
	}
	if c.Webhook != "" {
		problems = append(problems, post(ctx, "webhook", c.Webhook, data, http.Header{"Content-Type": {"application/json"}}))
	}
	if c.Ntfy != "" {
		// ntfy's header values are one line of ASCII; what is beyond goes into the body.
		head := http.Header{"Title": {strconv.QuoteToASCII(m.Title)}, "Tags": {m.State}}
		if m.Urgent {
			head.Set("Priority", "high")
		}
		problems = append(problems, post(ctx, "ntfy", c.Ntfy, []byte(m.Text), head))
	}
	return errors.Join(problems...)
}

func (c *Config) run(ctx context.Context, args []string, input []byte) error {
	var said bytes.Buffer
	result, err := c.Exec.Exec(ctx, process.Command{Args: args, Dir: c.Dir, Env: os.Environ(), Stdin: bytes.NewReader(input), Stderr: &said,
		Total: limit, OutputLimit: 4 << 10})
	if err != nil {
		return fmt.Errorf("notify with %q: %w", args[0], err)
	}
	if !result.OK() {
		return fmt.Errorf("notify with %q: exit code %d: %s", args[0], result.ExitCode, strings.TrimSpace(said.String()))
	}
	return nil
}

// post sends data. The address may hold a secret, so no error names it.
func post(ctx context.Context, way, address string, data []byte, head http.Header) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("notify by %s: the address is no URL", way)
	}
	request.Header = head
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Errorf("notify by %s: %w", way, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	if response.StatusCode >= 300 {
		return fmt.Errorf("notify by %s: the server answers %s", way, response.Status)
	}
	return nil
}
