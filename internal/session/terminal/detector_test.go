package terminal

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	done   = "###TASK_COMPLETE_42###"
	failed = "###TASK_ERROR_42###"
)

var (
	saysDone = []Word{{Kind: Complete}}
	saysWhy  = []Word{{Kind: Error, Message: "no compiler here"}}
)

type detection struct {
	name    string
	prompt  string
	typed   string
	code    string
	columns int // 0: 80; -1: a pipe
	printed string
	want    []Word
}

func (c detection) run(pieces ...string) (words []Word) {
	if c.columns == 0 {
		c.columns = 80
	}
	d := NewDetector(DetectorConfig{Issue: 42, Prompt: c.prompt, Code: c.code, Rows: 24, Columns: max(c.columns, 0), Say: func(w Word) { words = append(words, w) }})
	d.Typed([]byte(c.typed))
	for _, piece := range pieces {
		_, _ = d.Write([]byte(piece))
	}
	d.Close()
	return words
}

// Recorded are the interfaces of real agents, 80 columns wide, of which the model ran "cat notes.txt" and
// said that the notes are read. In the notes are the markers of five issues.
func TestAFileThatAnInterfaceShowsIsNotTheAgentsWord(t *testing.T) {
	t.Parallel()
	for issue, name := range map[int]string{3: "opencode", 4: "pi"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := recording(t, name)
			for code, want := range map[string][]Word{"": saysDone, "K7QXWB2AZ5PM": nil} {
				var words []Word
				d := NewDetector(DetectorConfig{Issue: issue, Code: code, Rows: 24, Columns: 80, Say: func(w Word) { words = append(words, w) }})
				for piece := range slices.Chunk(shown, 512) { // it is looked at from time to time
					_, _ = d.Write(piece)
					d.Settle()
					d.Settle()
				}
				d.Close()
				if !slices.Equal(words, want) {
					t.Errorf("with the code %q it says %v, want %v", code, words, want)
				}
			}
		})
	}
}

func recording(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+"-reads-a-file.screen.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// Instructions hold no marker: however they are shown, they say nothing.
const asked = "Fix the parser, please. When all is done print on a line of its own\n" + done + "\nand if it cannot be done\n" + failed + " WHY\nThank you."

func lines(n int, last string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d of what the tests print\r\n", i)
	}
	return text.String() + last
}

var detections = []detection{
	{name: "a line of its own", printed: "working\r\n" + done + "\r\n", want: saysDone},
	{name: "without a line feed at the end", printed: "working\r\n" + done, want: saysDone},
	{name: "through a pipe", columns: -1, printed: "working\n" + done + "\n", want: saysDone},
	{name: "before a window's title of which a character has the byte 0x9c", printed: done + "\x1b]0;✳ Claude Code\a\r\n", want: saysDone},
	{name: "an error with its message", printed: failed + " no compiler here\r\n", want: saysWhy},
	{name: "an error with its message on the next line", printed: failed + "\r\nno compiler here\r\n", want: saysWhy},
	{name: "an error with its message on the next line, which does not end", printed: failed + "\r\nno compiler here", want: saysWhy},
	{name: "an error that says no more", printed: failed + "\r\n", want: []Word{{Kind: Error}}},
	{name: "an error whose message is wrapped", columns: 25, printed: failed + " no compiler here\r\n", want: saysWhy},
	{name: "both, in their order", printed: done + "\r\n" + failed + " no compiler here\r\n", want: []Word{saysDone[0], saysWhy[0]}},
	{name: "twice is once", printed: done + "\r\n" + done + "\r\n", want: saysDone},

	{name: "issue 4 is not 42", printed: "###TASK_COMPLETE_4###\r\n"},
	{name: "issue 421 is not 42", printed: "###TASK_COMPLETE_421###\r\n###TASK_COMPLETE_042###\r\n"},
	{name: "in a sentence", printed: "I shall print " + done + " soon\r\n"},
	{name: "at the start of a sentence", printed: done + " is what I shall print\r\n"},
	{name: "a quotation", printed: "> " + done + "\r\n"},
	{name: "a quotation that goes on without its mark", printed: "> print this:\r\n" + done + "\r\n"},
	{name: "after a quotation", printed: "> print this\r\n\r\n" + done + "\r\n", want: saysDone},
	{name: "between quotation marks", printed: "\"" + done + "\"\r\n"},
	{name: "in a quotation of several lines", printed: "The issue says \"print\r\n" + done + "\r\nwhen done\"\r\n"},
	{name: "after a quotation of several lines", printed: "It says \"print\r\nthat\".\r\n" + done + "\r\n", want: saysDone},
	{name: "in typographic quotation marks", printed: "It says “print\r\n" + done + "\r\n”\r\n"},
	{name: "inline code", printed: "`" + done + "`\r\n"},
	{name: "a code block", printed: "```\r\n" + done + "\r\n```\r\n"},
	{name: "a code block of tildes with a language", printed: "~~~sh\r\n" + done + "\r\n```\r\n" + done + "\r\n~~~\r\n"},
	{name: "after a code block", printed: "```go\r\nx := 1\r\n```\r\n" + done + "\r\n", want: saysDone},
	{name: "a code block that began 300 lines ago", printed: "```\r\n" + lines(300, done+"\r\n")},

	{name: "an indented code block", printed: "I would print:\r\n\r\n    " + done + "\r\n\r\nbut it is not done.\r\n"},
	{name: "an indented code block through a pipe", columns: -1, printed: "I would print:\n\n\t" + done + "\n"},
	{name: "in the midst of an indented code block", printed: "So:\r\n\r\n    x\r\n\r\n    y\r\n    " + done + "\r\n"},
	{name: "an indented code block in a frame", printed: "│ So:           │\r\n│               │\r\n│     " + done + " │\r\n"},
	{name: "after an indented code block", printed: "So:\r\n\r\n    x\r\n\r\n" + done + "\r\n", want: saysDone},
	{name: "an indented line of a paragraph", printed: "So it\r\n    goes\r\n    " + done + "\r\n", want: saysDone},
	{name: "what a tool printed, on a branch", printed: "● Bash(cat notes.txt)\r\n  ⎿  " + done + "\r\n\r\n● Nothing is done yet.\r\n"},
	{name: "what a tool printed, on a corner", printed: "• Ran cat notes.txt\r\n  └ " + done + "\r\n"},
	{name: "what a tool printed, below a branch", printed: "● Bash(cat notes.txt)\r\n  ⎿  Notes\r\n\r\n     " + done + "\r\n"},
	{name: "what a tool printed, in the second line below a branch", printed: "● Bash(cat notes.txt)\r\n  ⎿  Notes\r\n     " + done + "\r\n"},
	{name: "after what a tool printed", printed: "● Bash(cat notes.txt)\r\n  ⎿  Notes\r\n\r\n● " + done + "\r\n", want: saysDone},
	{name: "below a frame", printed: "╭────╮\r\n│ Hi │\r\n╰────╯\r\n  " + done + "\r\n", want: saysDone},

	{name: "with its code", code: "K7QX", printed: "working\r\n" + done + " K7QX\r\n", want: saysDone},
	{name: "an error with its code", code: "K7QX", printed: failed + " K7QX no compiler here\r\n", want: saysWhy},
	{name: "an error with its code and its message on the next line", code: "K7QX", printed: failed + " K7QX\r\nno compiler here\r\n", want: saysWhy},
	{name: "without its code", code: "K7QX", printed: done + "\r\n" + failed + " no compiler here\r\n"},
	{name: "with another code", code: "K7QX", printed: done + " K7QY\r\n" + done + " K7QXX\r\n" + done + " K7QX yet\r\n"},
	{name: "with its code in a code block", code: "K7QX", printed: "```\r\n" + done + " K7QX\r\n```\r\n"},
	{name: "with its code, far to the right on an interface", code: "K7QX", printed: "\x1b[2J\x1b[5;9H" + done + " K7QX\x1b[20;1H", want: saysDone},

	{name: "the echo of the prompt", prompt: asked, printed: strings.ReplaceAll(asked, "\n", "\r\n") + "\r\nworking\r\n"},
	{name: "the echo of the prompt in a frame, wrapped by the program", prompt: asked,
		printed: "╭──────╮\r\n│ > Fix the parser, please. When all is done    │\r\n│ print on a line of its own  │\r\n│ " + done + "  │\r\n│ and if it cannot be done  │\r\n│ " + failed + " WHY │\r\n"},
	{name: "the echo of the prompt, wrapped by the terminal", prompt: asked, columns: 31, printed: strings.ReplaceAll(asked, "\n", "\r\n")},
	{name: "after the echo of the prompt", prompt: asked, printed: strings.ReplaceAll(asked, "\n", "\r\n") + "\r\nworking\r\n" + done + "\r\n", want: saysDone},
	{name: "the prompt is a marker", prompt: done, printed: "agent 1.0\r\n" + done + "\r\n"},
	{name: "the echo of what was typed", typed: done + "\r", printed: done + "\r\n"},
	{name: "after the echo of what was typed", typed: done + "\r", printed: done + "\r\n" + done + "\r\n", want: saysDone},

	{name: "split by colours", printed: "###TA\x1b[31mSK_COMP\x1b[0mLETE_\x1b[1;38;2;1;2;3m42#\x1b[m##\r\n", want: saysDone},
	{name: "split by a title and a link", printed: "###TASK_\x1b]0;" + "title\aCOMPLETE_\x1b]8;;http://x\x1b\\42###\x1b]8;;\x1b\\\r\n", want: saysDone},
	{name: "a title is not printed", printed: "\x1b]0;" + done + "\a\r\n"},
	{name: "a title that never ends hides one line", printed: "\x1b]0;x\r\n" + done + "\r\n", want: saysDone},
	{name: "wrapped at the terminal's width", columns: 10, printed: done + "\r\n", want: saysDone},
	{name: "a sentence wrapped right before it", columns: 20, printed: "I shall print later " + done + "\r\n"},
	{name: "300 lines later", printed: lines(300, done+"\r\n"), want: saysDone},
	{name: "300 lines before", printed: done + "\r\n" + lines(300, ""), want: saysDone},
	{name: "typed over", printed: "###TASK_XXXXXXXX_42###\r\x1b[8CCOMPLETE\r\n", want: saysDone},
	{name: "corrected with backspaces", printed: "###TASK_COMPLETE_43\b2###\r\n", want: saysDone},
	{name: "erased before the line ended", printed: done + "\r\x1b[Kno\r\n"},
	{name: "drawn out of order", printed: "\x1b[2J\x1b[5;9HCOMPLETE_42###\x1b[5;1H###TASK_\x1b[20;1H> ", want: saysDone},
	{name: "drawn as a bullet", printed: "\x1b[2J\x1b[5;1H● " + done + "\x1b[20;1H", want: saysDone},
	{name: "drawn and gone on with", printed: "\x1b[2J\x1b[5;1H" + done + "\x1b[20;1H>\x1b[5;23H is what I shall print\x1b[20;1H"},
	{name: "drawn as the rest of a wrapped sentence", columns: 40, printed: "\x1b[2J\x1b[5;1HWhen all is done I shall print\x1b[6;1H" + done + "\x1b[20;1H"},
	{name: "on the alternate screen", printed: "\x1b[?1049h\x1b[H" + done + "\x1b[?1049l", want: saysDone},
	{name: "drawn and scrolled away", printed: "\x1b[2J\x1b[H" + done + "\x1b[24;1H" + strings.Repeat("\r\n", 40), want: saysDone},
	{name: "drawn line by line and gone on with", printed: "\x1b[2J\x1b[H" + done + "\r\nmore\r\n\x1b[2A\x1b[22C is what I shall print\r\n"},
	{name: "behind a deleted character of two columns", printed: "測" + done + "\r\x1b[2P\r\n", want: saysDone},
	{name: "characters of two columns before it", columns: 12, printed: "測試測試測試\r\n" + done + "\r\n", want: saysDone},
	{name: "broken UTF-8 before it", printed: "\xe6\xb8\xff\xc3\r\n" + done + "\r\n", want: saysDone},
}

func TestDetector(t *testing.T) {
	t.Parallel()
	for _, c := range detections {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.run(c.printed); !slices.Equal(got, c.want) {
				t.Errorf("heard %+v, want %+v", got, c.want)
			}
			if got := c.run(strings.Split(c.printed, "")...); !slices.Equal(got, c.want) {
				t.Errorf("character by character heard %+v, want %+v", got, c.want)
			}
		})
	}
}

// A program that draws is believed while it runs, once its line has stood for a while.
func TestDetectorBelievesWhatStandsOnTheScreen(t *testing.T) {
	t.Parallel()
	var words []Word
	d := NewDetector(DetectorConfig{Issue: 42, Rows: 24, Columns: 80, Say: func(w Word) { words = append(words, w) }})
	_, _ = d.Write([]byte("\x1b[2J\x1b[5;1H" + done + "\x1b[20;1H> "))
	if more := d.Settle(); !more || len(words) > 0 {
		t.Fatalf("at once: heard %v, wants to be told again: %v", words, more)
	}
	if more := d.Settle(); more || !slices.Equal(words, saysDone) {
		t.Fatalf("later: heard %v, wants to be told again: %v", words, more)
	}
}

func TestDetectorTakesALineThatGoesOnForNoWord(t *testing.T) {
	t.Parallel()
	d := NewDetector(DetectorConfig{Issue: 42, Rows: 24, Columns: 80, Say: func(w Word) { t.Errorf("heard %v", w) }})
	_, _ = d.Write([]byte("\x1b[2J\x1b[5;1H" + done + "\x1b[20;1H> "))
	d.Settle()
	_, _ = d.Write([]byte("\x1b[5;23H is what I shall print\x1b[20;1H"))
	d.Settle()
	d.Settle()
	d.Close()
}

func TestDetectorFollowsTheTerminalsSize(t *testing.T) {
	t.Parallel()
	var words []Word
	d := NewDetector(DetectorConfig{Issue: 42, Rows: 24, Columns: 80, Say: func(w Word) { words = append(words, w) }})
	_, _ = d.Write([]byte(lines(30, "")))
	d.Resize(5, 10)
	_, _ = d.Write([]byte(done + "\r\n"))
	if !slices.Equal(words, saysDone) {
		t.Fatalf("heard %v", words)
	}
}

func FuzzDetector(f *testing.F) {
	for _, c := range detections {
		f.Add(c.printed, c.prompt, uint8(len(c.printed)/2), int16(c.columns))
	}
	f.Fuzz(func(t *testing.T, printed, prompt string, cut uint8, columns int16) {
		c := detection{prompt: prompt, columns: int(columns)}
		whole := c.run(printed)
		at := min(int(cut), len(printed))
		if got := c.run(printed[:at], printed[at:]); !slices.Equal(got, whole) {
			t.Errorf("cut at %d: heard %v, else %v", at, got, whole)
		}
		var bytewise []string
		for i := range len(printed) {
			bytewise = append(bytewise, printed[i:i+1])
		}
		if got := c.run(bytewise...); !slices.Equal(got, whole) {
			t.Errorf("byte by byte: heard %v, else %v", got, whole)
		}
	})
}

func TestDetectorRemembersLittleOfLongLines(t *testing.T) {
	t.Parallel()
	d := NewDetector(DetectorConfig{Issue: 42, Columns: 80, Say: func(Word) {}})
	_, _ = d.Write(bytes.Repeat([]byte("x"), 10*maxLine))
	if n := len(d.context.history); n > historyLimit {
		t.Errorf("%d bytes are remembered of what went by, want %d at most", n, historyLimit)
	}
}

func BenchmarkDetector(b *testing.B) {
	for name, line := range map[string]string{"lines": strings.Repeat("0", 80) + "\n", "short": "y\n"} {
		b.Run(name, func(b *testing.B) {
			d := NewDetector(DetectorConfig{Issue: 42, Say: func(Word) {}})
			text := []byte(strings.Repeat(line, 1<<15/len(line)))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = d.Write(text)
			}
		})
	}
}
