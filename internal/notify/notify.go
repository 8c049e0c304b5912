// Package notify sends news to a person who isn't watching: to the desktop, through a program of theirs, by webhook, Slack, Discord or ntfy. It has
// each piece of news told once, and does not decide which is worth sending.
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

// Config lists the ways to notify. An empty field disables its way.
type Config struct {
	// Desktop shows the message on this desktop, with notify-send.
	Desktop bool
	// Command is a program with its arguments. It gets the message as JSON on standard input, and runs in Dir.
	Command []string
	// Dir is the project's folder.
	Dir string
	// Webhook is an address that gets the message as a JSON POST. Ntfy is the address of a topic on ntfy.sh or a server like it.
	Webhook, Ntfy string
	// Slack and Discord are addresses of incoming webhooks there.
	Slack, Discord string
	Exec           process.Executor
}

// Message is one piece of news, already cleaned and redacted. Text and Content hold it in one string, under the keys that Slack and Discord show.
type Message struct {
	Project string `json:"project"`
	Request int    `json:"request"`
	RunID   string `json:"run_id"`
	State   string `json:"state"`
	Reason  string `json:"reason_code,omitempty"`
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Next    string `json:"next,omitempty"`
	// URL is the run's page.
	URL     string    `json:"url,omitempty"`
	At      time.Time `json:"at"`
	Text    string    `json:"text"`
	Content string    `json:"content"`
	// Urgent: a person must act.
	Urgent bool `json:"urgent"`
}

// limit is the time budget of each way.
const limit = 10 * time.Second

// Any reports whether any way is configured.
func (c *Config) Any() bool {
	return c.Desktop || len(c.Command) > 0 || c.Webhook != "" || c.Ntfy != "" || c.Slack != "" || c.Discord != ""
}

// Send sends the message by every configured way at once and returns the joined errors. It takes at most 10 s.
func (c *Config) Send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body := strings.TrimSpace(strings.TrimSpace(m.Detail+"\n"+m.Next) + "\n" + m.URL)
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
		problems = append(problems, c.run(ctx, []string{"notify-send", "--app-name=Signalbox", urgency, "--", m.Title, markup.Replace(body)}, nil))
	}
	if len(c.Command) > 0 {
		problems = append(problems, c.run(ctx, c.Command, data))
	}
	if c.Webhook != "" {
		problems = append(problems, post(ctx, "webhook", c.Webhook, data, http.Header{"Content-Type": {"application/json"}}))
	}
	if c.Slack != "" {
		problems = append(problems, postJSON(ctx, "slack", c.Slack, map[string]any{"text": markup.Replace(m.Text)}))
	}
	if c.Discord != "" {
		problems = append(problems, postJSON(ctx, "discord", c.Discord, map[string]any{"content": discordText.Replace(m.Title+"\n"+strings.TrimSpace(m.Detail+"\n"+m.Next)) + "\n" + m.URL,
			"allowed_mentions": map[string]any{"parse": []string{}}}))
	}
	if c.Ntfy != "" {
		// ntfy's header values are one line of ASCII; other text goes into the body.
		head := http.Header{"Title": {strconv.QuoteToASCII(m.Title)}, "Tags": {m.State}}
		if m.Urgent {
			head.Set("Priority", "high")
		}
		if m.URL != "" {
			head.Set("Click", m.URL)
		}
		problems = append(problems, post(ctx, "ntfy", c.Ntfy, []byte(m.Text), head))
	}
	return errors.Join(problems...)
}

// Texts are untrusted: one must neither call a channel nor hide where a link leads. markup is Slack's, and that of a desktop's notifications
// (https://specifications.freedesktop.org/notification-spec/latest/markup.html).
var (
	markup      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	discordText = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "|", `\|`, "`", "\\`", "[", `\[`, "]", `\]`, "(", `\(`, "<", `\<`, "#", `\#`, ">", `\>`)
)

func postJSON(ctx context.Context, way, address string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write notification: %w", err)
	}
	return post(ctx, way, address, data, http.Header{"Content-Type": {"application/json"}})
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

// post sends data. The address may contain a secret, so no error names it.
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
