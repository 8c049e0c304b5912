package execserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// maxMessage limits an error from inside, in bytes.
const maxMessage = 2000

// lost returns the result of a command whose server disappeared or broke the protocol.
func (c *call) lost(why error) (process.Result, error) {
	result := process.Result{ExitCode: -1, Ending: process.Exited, Started: c.started, Duration: c.clock().Sub(c.started)}
	return result, fmt.Errorf("%w: %w", ErrLost, why)
}

var (
	endings       = []process.Ending{process.Exited, process.TimedOut, process.Idled, process.Stopped, process.NoMemory}
	signalPattern = lazy.Pattern(`^(SIG[A-Z0-9+-]{2,12})?$`)
)

// end turns the server's report into a Result, if it is valid.
func (c *call) end(payload []byte) (process.Result, error) {
	var e end
	if err := json.Unmarshal(payload, &e); err != nil {
		return c.lost(fmt.Errorf("%w: %w", errFrame, err))
	}
	if !slices.Contains(endings, e.Ending) || e.ExitCode < -1 || e.ExitCode > 255 || !signalPattern().MatchString(e.Signal) ||
		e.Duration < 0 || e.CPU < 0 || e.MaxRSS < 0 {
		return c.lost(errFrame)
	}
	result := process.Result{ExitCode: e.ExitCode, Signal: e.Signal, Ending: e.Ending, Started: c.started, Duration: e.Duration,
		Truncated: e.Truncated || c.cut, CPU: e.CPU, MaxRSS: e.MaxRSS}
	if e.Problem != "" {
		return result, fmt.Errorf("in the container: %s", clean(e.Problem))
	}
	return result, nil
}

// clean returns a message from inside on one line, bounded and without control characters.
func clean(message string) string {
	message = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, redact.Clean(strings.ToValidUTF8(message, "?")))
	return redact.Cut(message, maxMessage)
}
