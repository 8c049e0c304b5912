package session

import (
	"strings"
	"testing"
	"unicode/utf8"

	"signalbox/internal/session/terminal"
)

// longReport makes an argument as long as the kernel takes it.
const longReport = `word=$(head -c 100000 /dev/zero | tr '\0' y); `

func TestOfALongReportTheBeginningIsTold(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Headless, longReport+strings.Replace(reporter(t, "error WORD"), "WORD'", `'"$word"`, 1)))
	info := ended(t, x)
	if info.Outcome.Source != Reported || utf8.RuneCountInString(info.Outcome.Message) != messageLimit || !strings.HasPrefix(info.Outcome.Message, "yyy") {
		t.Errorf("came to %.200v; printed %s", info.Outcome, output(t, x))
	}
}

// Each of these takes six bytes on its way.
func TestALongReportOfControlCharactersIsToldToo(t *testing.T) {
	t.Parallel()
	script := strings.ReplaceAll(longReport, "y", `'\001'`) + strings.Replace(reporter(t, "error xWORD"), "WORD'", `'"$word"`, 1)
	if info := ended(t, started(t, newSessions(t), shell(42, Headless, script))); info.Outcome.Source != Reported || info.Outcome.Message != "x" {
		t.Errorf("came to %.200v", info.Outcome)
	}
}

func TestAReportWithoutWordsIsRefusedWhereItNeedsThem(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Headless, reporter(t, "error ")+"; "+reporter(t, "progress  ")+"; "+reporter(t, "complete")))
	info := ended(t, x)
	if info.Outcome.Kind != terminal.Complete || info.Outcome.Source != Reported {
		t.Errorf("came to %+v", info.Outcome)
	}
	if text := output(t, x); strings.Count(text, ErrNoWords.Error()) != 2 {
		t.Errorf("the agent was told %q", text)
	}
}

func TestAnErrorWithoutAReasonSaysSo(t *testing.T) {
	t.Parallel()
	if info := ended(t, started(t, newSessions(t), shell(42, Headless, "echo '"+failed+"'"))); info.Outcome.Message != noReason {
		t.Errorf("came to %+v", info.Outcome)
	}
}

func TestTheEchoOfTheInstructionsIsNoMarker(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "K7QX"} {
		for width := 20; width < 200; width += 7 {
			told := strings.ReplaceAll(Instructions(42, "signalbox", code), "\n", "\r\n")
			var words []terminal.Word
			d := terminal.NewDetector(terminal.DetectorConfig{Issue: 42, Code: code, Rows: 24, Columns: width, Say: func(w terminal.Word) { words = append(words, w) }})
			_, _ = d.Write([]byte(told + "  " + strings.ReplaceAll(told, "\"", "")))
			d.Close()
			if len(words) > 0 {
				t.Errorf("%d columns wide it says %v", width, words)
			}
		}
	}
}
