package session

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
)

// report is the agent's message: a word, and the token of its session.
type report struct {
	Token   string
	Kind    terminal.Kind
	Message string
}

const (
	// sentLimit is much more than is kept of a message (messageLimit): a secret that is cut here can't be
	// recognized, so the cut must be far from the kept part.
	sentLimit = 32 << 10
	// reportLimit has room for a report with every byte escaped.
	reportLimit = 256 << 10
)

var (
	// ErrRefused: the report didn't come from this session.
	ErrRefused = errors.New("the report is refused")
	// ErrNoWords: the report has no message.
	ErrNoWords = errors.New("the report says nothing")
)

// Report reports to the host of the session whose variables getenv returns. The agent calls it, inside. It
// sends the beginning of a long message. ErrNoWords: only Complete needs no message.
func Report(ctx context.Context, getenv func(string) string, word terminal.Word) error {
	if word.Kind != terminal.Complete && strings.TrimSpace(redact.Clean(word.Message)) == "" {
		return ErrNoWords
	}
	word.Message = strings.ToValidUTF8(word.Message[:min(len(word.Message), sentLimit)], "\ufffd")
	path := getenv(SocketVariable)
	if path == "" {
		return fmt.Errorf("%w: this is no session: %s is not set", ErrRefused, SocketVariable)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket of session: %w", err)
	}
	socket := os.NewFile(uintptr(fd), path)
	defer func() { _ = socket.Close() }()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", inFolder(socket, ""))
	if err != nil {
		return fmt.Errorf("reach host of session: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if err := (&frames{to: conn}).sendJSON(frameRequest, report{getenv(TokenVariable), word.Kind, word.Message}); err != nil {
		return err
	}
	kind, payload, err := readFrame(conn, reportLimit)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if kind == frameProblem {
		return fmt.Errorf("%w: %s", ErrRefused, payload)
	}
	return nil
}

// takeReport takes one report. Its peer, the agent, is untrusted and only learns yes or no.
func (h *host) takeReport(ctx context.Context, conn net.Conn) {
	_ = conn.SetDeadline(h.clock().Add(requestWait))
	_, payload, err := readFrame(conn, reportLimit)
	var said report
	if err == nil {
		err = json.Unmarshal(payload, &said)
	}
	out := &frames{to: conn}
	if err != nil {
		return
	}
	digest, reason := sha256.Sum256([]byte(said.Token)), ""
	switch {
	case subtle.ConstantTimeCompare([]byte(hex.EncodeToString(digest[:])), []byte(h.info.TokenDigest)) != 1:
		reason = "its token is not this session's"
	case said.Kind != terminal.Complete && said.Kind != terminal.Error && said.Kind != terminal.Progress:
		reason = "it is neither complete nor error nor progress"
	}
	if reason != "" {
		if h.refusals.Add(1) <= refusalsLimit {
			h.log.Warn("refused a report", "reason", reason)
			if err := h.save(context.WithoutCancel(ctx), func(i *Info) { i.note("a report was refused: " + reason) }); err != nil {
				h.log.Error("save note", "error", err)
			}
		}
		_ = out.send(frameProblem, []byte(reason))
		return
	}
	h.hear(ctx, terminal.Word{Kind: said.Kind, Message: said.Message}, Reported)
	_ = out.send(frameInfo, nil)
}

// Instructions returns how the agent must report, with our own program, quoted for a shell; code is Config.Code.
// They contain no marker, so that their echo is none.
func Instructions(issue int, program, code string) string {
	behind := ""
	if code != "" {
		behind = fmt.Sprintf(" and %q behind it", " "+code)
	}
	return fmt.Sprintf("When your work on issue %d is complete run: %s report complete\n"+
		"If it cannot be done run: %[2]s report error \"WHY\"\n"+
		"Where there is no such program, print instead, on a line of its own behind an empty line and outside of code blocks,\n"+
		"the two parts %[3]q and %[4]q as one word%[7]s, or %[5]q and %[6]q%[7]s followed by the reason.\n",
		issue, program, terminal.MarkerStart+"COMPLETE_", fmt.Sprintf("%d###", issue), terminal.MarkerStart+"ERROR_", fmt.Sprintf("%d###", issue), behind)
}
