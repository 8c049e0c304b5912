package language

import (
	"regexp"
	"slices"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[a-z]`)

// verbsOf are the verbs of a text, in the order of their arguments.
func verbsOf(text string) []string {
	var found []string
	for i, v := range verb.FindAllStringSubmatch(text, -1) {
		at := i + 1
		if v[1] != "" {
			at = int(v[1][0] - '0')
		}
		found = append(found, string(rune('0'+at))+v[0][len(v[0])-1:])
	}
	slices.Sort(found)
	return found
}

func TestEveryTextIsThereInEveryLanguage(t *testing.T) {
	t.Parallel()
	for key := range keys {
		for _, l := range Languages {
			if got := l.Say(key); got == "" || l == Japanese && got == texts[key].en {
				t.Errorf("text %d (%q) is %q in %s", key, texts[key].en, got, l)
			}
		}
		if en, ja := verbsOf(texts[key].en), verbsOf(texts[key].ja); !slices.Equal(en, ja) {
			t.Errorf("text %d has the verbs %v in English and %v in Japanese: %q", key, en, ja, texts[key].ja)
		}
	}
}

func TestEveryWordOfARunIsThereInEveryLanguage(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	differs := func(what, en, ja string) {
		if en == "" || ja == "" || en == ja {
			t.Errorf("%s is %q in English and %q in Japanese", what, en, ja)
		}
		if other, twice := said[ja]; twice {
			t.Errorf("%s and %s are both %q", what, other, ja)
		}
		said[ja] = what
	}
	for _, kind := range await.Kinds {
		a := &workflow.Await{Kind: kind}
		differs(string(kind), English.Await(a), Japanese.Await(a))
		if a.People() {
			differs(string(kind), English.AwaitDo(a), Japanese.AwaitDo(a))
		}
	}
	for _, state := range workflow.States {
		differs(string(state), English.State(state), Japanese.State(state))
	}
	clear(said) // a state and a phase may have one name
	for _, phase := range workflow.ProgressPhases {
		differs(string(phase), English.Progress(phase, "title"), Japanese.Progress(phase, "title"))
	}
	for _, row := range workflow.Positions {
		differs(string(row.Step), English.Doing(row.Phase), Japanese.Doing(row.Phase))
	}
	for _, verb := range workflow.Verbs {
		step := workflow.NextStep{Text: "do it", Verb: verb}
		differs(string(verb), English.Step(step), Japanese.Step(step))
	}
	if advice := workflow.Advice("free disk space"); Japanese.Step(advice) != "free disk space" {
		t.Errorf("advice is lost: %q", Japanese.Step(advice))
	}
}

func TestALanguageThatIsNotNamedIsEnglish(t *testing.T) {
	t.Parallel()
	if got := Language("").Say(OnBranch, "a", "b"); got != "a on b" {
		t.Error(got)
	}
	if got := Japanese.Say(OnBranch, "a", "b"); got != "b の a" {
		t.Error(got)
	}
}

func TestEveryTextOfAPageIsThereInEveryLanguage(t *testing.T) {
	t.Parallel()
	for name, text := range pages {
		if text.en == "" || text.ja == "" || text.en == text.ja {
			t.Errorf("%s is %q in English and %q in Japanese", name, text.en, text.ja)
		}
		if en, ja := verbsOf(text.en), verbsOf(text.ja); !slices.Equal(en, ja) {
			t.Errorf("%s has the verbs %v in English and %v in Japanese", name, en, ja)
		}
	}
}
