package redact_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"signalbox/internal/redact"
)

// splitters are what no eye sees between two letters: Clean removes each of them, which puts together what they split.
var splitters = map[string]string{
	"a colour": "\x1b[0m", "a colour in one C1 character": "\u009b1;31m", "a colour in eight bits": "\x9b31m",
	"a window title": "\x1b]0;x\a", "a link": "\x1b]8;;https://x\x1b\\", "a control string in one C1 character": "\u009dx\u009c",
	"a device control string": "\x1bP1$q\x1b\\", "a character set": "\x1b(B", "a reset": "\x1bc", "two sequences": "\x1b[1m\x1b[K",
	"a carriage return": "\r", "a backspace": "\b", "NUL": "\x00", "DEL": "\x7f", "a bell": "\a", "a C1 control": "\u0085",
	"no width": "\u200b", "a joiner": "\u200d", "a byte order mark": "\ufeff", "a direction": "\u202e", "a soft hyphen": "\u00ad",
	"a grapheme joiner": "\u034f", "a filler": "\u3164", "a variation selector": "\ufe0f", "another one": "\U000e0101",
	"a tag": "\U000e0041",
}

func TestASecretSplitByInvisibleCharactersIsRemoved(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary-value"
	r := redact.New(map[string]string{"CANARY_TOKEN": secret})
	for name, splitter := range splitters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; at < len(secret); at++ {
				holdsNothing(t, r, "before "+secret[:at]+splitter+secret[at:]+splitter+" after\n", secret)
			}
			holdsNothing(t, r, "before "+strings.Join(strings.Split(secret, "-"), splitter+"-")+" after\n", secret)
			holdsNothing(t, r, "see "+strings.Join(strings.Split("ghp_"+letters(36), "_"), "_"+splitter)+" after\n", letters(20))
		})
	}
}

// holdsNothing checks every way through the redactor, each whole, in pieces, and cleaned afterwards.
func holdsNothing(t *testing.T, r *redact.Redactor, text, secret string) {
	t.Helper()
	outputs := map[string]string{"String": r.String(text), "Text": r.Text(text),
		"Line": r.Line(text, 1000), "Writer": streamed(t, r.Writer, text, 1), "CleanWriter": streamed(t, r.CleanWriter, text, 1)}
	if utf8.ValidString(text) {
		outputs["String of Clean"] = r.String(redact.Clean(text))
	}
	for way, out := range outputs {
		for _, seen := range []string{out, redact.Clean(out)} {
			if strings.Contains(seen, secret) || !strings.Contains(seen, redact.Replacement) || !strings.Contains(seen, " after") {
				t.Errorf("%s: %q became %q", way, text, seen)
			}
		}
	}
	if outputs["Writer"] != outputs["String"] || outputs["CleanWriter"] != outputs["Text"] {
		t.Errorf("%q: in pieces %q and %q, whole %q and %q", text, outputs["Writer"], outputs["CleanWriter"], outputs["String"], outputs["Text"])
	}
}

// streamed is text written in pieces of so many bytes.
func streamed(t *testing.T, through func(io.Writer) io.WriteCloser, text string, piece int) string {
	t.Helper()
	var out bytes.Buffer
	w := through(&out)
	for rest := []byte(text); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
		if _, err := w.Write(rest[:min(piece, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAColourAroundASecretStays(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"CANARY_TOKEN": "hunter2-canary"})
	if got, want := r.String("\x1b[31mkey hunter2-\x1b[1mcanary\x1b[0m\r\nnext"), "\x1b[31mkey [redacted]\x1b[0m\r\nnext"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASecretBehindAnUnfinishedSequenceIsRemoved(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"CANARY_TOKEN": "hunter2-canary"})
	for _, start := range []string{"\x1b", "\x1b[", "\x1b[3", "\x1b(", "\x9b", "\u009b", "\x1b]", "\x1b]0;", "\x1bP"} {
		for _, end := range []string{"", "\n", " \a"} {
			if got := r.Text(start + "hunter2-canary" + end); strings.Contains(got, "canary") {
				t.Errorf("%q became %q", start+"hunter2-canary"+end, got)
			}
		}
	}
}

func TestALongSequenceHidesNothing(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"CANARY_TOKEN": "hunter2-canary"})
	for _, long := range []string{"\x1b]0;" + letters(20_000) + "\a", "\x1b[" + strings.Repeat("1;", 10_000) + "m"} {
		whole, inPieces := r.Text("a hunter2-"+long+"canary b"), streamed(t, r.CleanWriter, "a hunter2-"+long+"canary b", 1000)
		if whole != inPieces || strings.Contains(whole, "hunter2-canary") || len(whole) < 10_000 {
			t.Errorf("whole %d bytes, in pieces %d", len(whole), len(inPieces))
		}
	}
}

func TestOutputIsNotHeldBackForItsColours(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := known().Writer(&out)
	for _, text := range []string{"\x1b[31mred\x1b[0K", "\r\x1b[2K 50 (ok)", "\x1b]0;title\a", "Continue? "} {
		out.Reset()
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if out.String() != text {
			t.Errorf("of %q came %q", text, out.String())
		}
	}
}

func FuzzCleaningChangesNothingForARedactor(f *testing.F) {
	for _, text := range []string{"over\x1b[0mlap\u200bping", "\x1b]0;overlapping\a", "over\x9b31mlapping", "ghp_\x1b[0m" + letters(40), "\x1b[overlapping"} {
		f.Add(text, 3)
	}
	r := known()
	f.Fuzz(func(t *testing.T, text string, piece int) {
		whole := r.Text(text)
		if inPieces := streamed(t, r.CleanWriter, text, max(1, piece)); inPieces != whole {
			t.Errorf("%q: in pieces %q, whole %q", text, inPieces, whole)
		}
		if inPieces := streamed(t, r.Writer, text, max(1, piece)); inPieces != r.String(text) {
			t.Errorf("%q: in pieces %q, whole %q", text, inPieces, r.String(text))
		}
		if strings.Contains(whole, "overlapping") || strings.Contains(redact.Clean(r.String(text)), "overlapping") {
			t.Errorf("%q became %q", text, whole)
		}
	})
}

func BenchmarkLogStream(b *testing.B) {
	text := []byte(strings.Repeat("ok  	signalbox/internal/process	1.234s  coverage: 87.1% of statements\n", 1<<14))
	benchmarkStream(b, text)
}

func BenchmarkColouredStream(b *testing.B) {
	text := []byte(strings.Repeat("\x1b[32mok\x1b[0m  	signalbox/internal/process	\x1b[2m1.234s\x1b[0m  coverage: 87.1% of statements\r\n", 1<<14))
	benchmarkStream(b, text)
}

func benchmarkStream(b *testing.B, text []byte) {
	r := known()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		w := r.Writer(discard{})
		for rest := text; len(rest) > 0; rest = rest[min(len(rest), 32<<10):] {
			_, _ = w.Write(rest[:min(len(rest), 32<<10)])
		}
		_ = w.Close()
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestAValueWithSomethingUnseenInItIsKnown(t *testing.T) {
	t.Parallel()
	const value = "hunter2\u200bcanary\x01value"
	r := redact.New(map[string]string{"KEY": value})
	for _, text := range []string{"it is " + value + ".", "it is hunter2canaryvalue.", "é it is " + value, "\x1b]0;" + value + "\a"} {
		if got := r.String(text); strings.Contains(redact.Clean(got), "canary") {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
