package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/board"
	"signalbox/internal/language"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// drawing is a model that draws cards without a project that has them.
func drawing(t testing.TB, cards ...board.Card) *model {
	t.Helper()
	m, closeProject, err := newModel(t.Context(), config(t, apptest.Make(t, map[string]string{"a": "a\n"})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeProject)
	m.Now, m.view = func() time.Time { return noon }, atBoard
	m.take(cardsRead{all: cards})
	return m
}

func cardOf(number int, title string, state workflow.State, change func(*workflow.Run)) board.Card {
	r := workflow.New(workflow.Start{RequestID: fmt.Sprintf("RQ-%d", number), RunID: "20261126-110000-abcdef", Number: number, Title: title, Branch: fmt.Sprintf("signalbox/%d", number), Base: "main"}, noon.Add(-time.Duration(number)*time.Minute))
	r.State = state
	change(&r)
	return board.CardOf(app.Listing{Number: number, RequestID: r.RequestID, Title: title, RunID: r.RunID, State: state, Phase: r.Details.Phase.String(), Message: r.Progress.Message, Run: &r})
}

func someCards() []board.Card {
	return []board.Card{
		cardOf(3, "Count words whatever the space between them", workflow.NeedsInput, func(r *workflow.Run) {
			r.Details.Phase, r.Progress.Message = workflow.TDDGreen, "the design names user IDs both int and UUID"
			r.Error = &workflow.Error{ReasonCode: "DESIGN_AMBIGUOUS", Title: "the request can be read in two ways", Message: "the design names user IDs both int and UUID", Next: []workflow.NextStep{r.Ask("settle it, then", workflow.VerbResume)}}
		}),
		cardOf(12, "日本語のタイトルで単語を数える：全角の空白も区切りとする", workflow.Running, func(r *workflow.Run) { r.Details.Phase = workflow.TDDGreen }),
		cardOf(14, "Say hello", workflow.Queued, func(r *workflow.Run) { r.Progress.Message = "waits for a slot" }),
		cardOf(70, "Greet the world", workflow.NeedsInput, func(r *workflow.Run) {
			r.Details.Phase, r.Details.Head, r.Progress.Message = workflow.ApprovalWait, strings.Repeat("c0ffee00", 5), "the change waits for your approval"
			r.Details.Evidence = []workflow.Evidence{{Commit: r.Details.Head, Command: "go test ./...", Passed: true, At: noon}}
			r.Details.Flags = []string{"it changes go.mod"}
		}),
		cardOf(1500, "Fix the parser", workflow.Done, func(*workflow.Run) {}),
	}
}

func TestScreens(t *testing.T) {
	t.Parallel()
	m := drawing(t, someCards()...)
	for name, draw := range map[string]func(){
		"board-80x24":  func() { m.width, m.height = 80, 24 },
		"board-200x60": func() { m.width, m.height = 200, 60 },
		"board-40x20":  func() { m.width, m.height = 40, 20 },
		"board-ja":     func() { m.width, m.height, m.Language = 80, 24, language.Japanese },
		"run-80x24":    func() { m.width, m.height = 80, 24; m.column(board.Ready); m.open(atDetails) },
		"run-40-ja": func() {
			m.width, m.height, m.Language = 40, 24, language.Japanese
			m.column(board.Ready)
			m.open(atDetails)
		},
		"keys-80x24": func() { m.width, m.height = 80, 30; m.help() },
		"reject-40": func() {
			m.width, m.height = 40, 20
			m.column(board.Ready)
			m.reject()
			m.ask.typed("say it louder, and in more languages than before")
		},
		"tiny": func() { m.width, m.height = 10, 4 },
	} {
		m.Language, m.ask, m.top, m.note = language.English, nil, 0, note{}
		m.open(atBoard)
		m.column(board.NeedsYou)
		draw()
		lines := strings.Split(ansi.Strip(m.View().Content), "\n")
		for i, line := range lines {
			if w := ansi.StringWidth(line); w > m.width {
				t.Errorf("%s: line %d has %d of %d columns: %q", name, i, w, m.width, line)
			}
			lines[i] = strings.TrimRight(line, " ")
		}
		if len(lines) != m.height {
			t.Errorf("%s has %d lines", name, len(lines))
		}
		got, path := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(path); err != nil || string(want) != got {
			t.Errorf("%s (%v) is now:\n%s", name, err, got)
		}
	}
}

// hostile texts would do something to a terminal, or hide what is there.
var hostile = []string{
	"\x1b[2Jgone", "\x1b[31mred", "\x1b]0;title\x07", "\x1b]52;c;cm0gLXJmIH4K\x07", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x1bPq#0;2;0;0;0\x1b\\", "\x1b_Gi=1;AAAA\x1b\\",
	"\x1b^pm\x1b\\", "\x1bc", "\x1b[6n", "\x1b[?1049l", "\x1b[?1000h", "\x9b31m", "\u009b2J", "\u009d52;c;aGk=\u009c", "a\rb", "a\bb", "a\x07b", "a\x00b", "a\x7fb",
	"a\nb\nc", "a\tb", "\u202egnp.exe", "\u2066x\u2069", "\u200bzero", "\ufeffbom", "\U000e0041tag", "👨‍👩‍👧‍👦 family", "全角全角全角全角全角全角全角全角全角全角全角全角全角全角", "ｗｉｄｅ\u0301\u0301\u0301",
	"\xff\xfe\x80", strings.Repeat("long ", 400), "\x1b[", "\x1b]52;c;", "%s%n%d", "\u2028line\u2029",
}

func TestHostileTextsShowAsText(t *testing.T) {
	t.Parallel()
	m := drawing(t)
	m.width, m.height = 130, 40
	for _, text := range hostile {
		card := cardOf(7, text, workflow.NeedsInput, func(r *workflow.Run) {
			r.Details.Phase, r.Details.Head, r.Details.Branch, r.Details.Flags, r.Progress.Message = workflow.ApprovalWait, strings.Repeat("c0ffee00", 5), text, []string{text}, text
			r.Error = &workflow.Error{ReasonCode: text, Title: text, Message: text, Next: []workflow.NextStep{{Text: text}}}
			r.Details.Question = &workflow.Question{ID: "Q1", Kind: workflow.ChoiceQuestion, Role: workflow.Role(text), Tool: text, Text: text, Options: []string{text}}
			r.Signals.Notes, r.Details.PullRequest = &text, &workflow.PullRequest{URL: text}
			r.Steps = []workflow.Step{{StepID: "S01", Title: text}}
		})
		m.filter = ""
		m.take(cardsRead{all: []board.Card{card, {Listing: app.Listing{RequestID: "x", Title: text, Problem: text}, Column: board.Done}}, broken: fmt.Errorf("%s", text)})
		m.open(atBoard)
		screens := []string{m.View().Content}
		m.answer()
		m.ask.typed(text)
		screens, m.ask = append(screens, m.View().Content), nil
		m.open(atDetails)
		screens = append(screens, m.View().Content)
		p := &pane{title: m.line(text), parts: []string{m.line(text)}}
		m.show(atLog, p)
		for _, l := range []app.LogLine{{Text: text}, {Log: text, Begins: true}, {Entry: true, Text: fmt.Sprintf(`{"kind":"message","text":%q}`, strings.ToValidUTF8(text, "?"))}} {
			p.add(m.logged(l)...)
		}
		screens = append(screens, m.View().Content)
		for _, screen := range screens {
			plain := screen
			for _, own := range []tone{strong, faint, reversed, bad, good, attention, heading, ""} {
				plain = strings.ReplaceAll(plain, "\x1b["+string(own)+"m", "")
			}
			if clean := redact.Clean(plain); clean != plain {
				t.Errorf("%q gets to the terminal:\n%q", text, plain)
			}
			if lines := strings.Split(plain, "\n"); len(lines) != m.height {
				t.Errorf("%q makes %d lines of %d", text, len(lines), m.height)
			}
		}
	}
}

func TestEveryTextOfTheTerminalExists(t *testing.T) {
	t.Parallel()
	for i := range keys {
		if !language.HasPage(keys[i].label) {
			t.Errorf("the key %q has no text %q", keys[i].names, keys[i].label)
		}
	}
}

// BenchmarkBoard measures how long a board of a thousand runs takes to be read, and to be drawn after each key.
func BenchmarkBoard(b *testing.B) {
	dir := apptest.Make(b, map[string]string{"a": "a\n"})
	project := apptest.Open(b, dir)
	for i := range 1000 {
		put(b, project, 100+i, func(r *workflow.Run) { r.State, r.Details.Phase = workflow.Running, workflow.TDDGreen })
	}
	m, closeProject, err := newModel(b.Context(), config(b, dir))
	if err != nil {
		b.Fatal(err)
	}
	defer closeProject()
	m.width, m.height, m.view = 200, 60, atBoard
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			m.take(m.readAll().(cardsRead))
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			m.scroll(1)
			if m.at == len(m.rows)-1 {
				m.column(board.NeedsYou)
			}
			_ = m.View()
		}
	})
}
