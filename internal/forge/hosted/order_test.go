package hosted

import (
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func TestOrdersAreReadFromTheFirstLineOfAComment(t *testing.T) {
	t.Parallel()
	type is = forge.Order
	for body, want := range map[string]*is{
		"/signalbox run":                        {Verb: forge.VerbRun},
		"  /Signalbox   RUN  ":                  {Verb: forge.VerbRun},
		"/signalbox run\r\n\r\nthanks!":         {Verb: forge.VerbRun},
		"\n\n/signalbox stop":                   {Verb: forge.VerbStop},
		"/signalbox retry":                      {Verb: forge.VerbRetry},
		"/signalbox resume":                     {Verb: forge.VerbResume},
		"/signalbox status":                     {Verb: forge.VerbStatus},
		"/signalbox approve":                    {Verb: forge.VerbApprove},
		"/signalbox approve ABCDEF0":            {Verb: forge.VerbApprove, Commit: "abcdef0"},
		"/signalbox approve `abcdef01`":         {Verb: forge.VerbApprove, Commit: "abcdef01"},
		"/signalbox approve abc":                {Verb: forge.VerbApprove, Problem: "approve takes a commit's id with at least 7 digits, or nothing"},
		"/signalbox approve abcdef0 and merge":  {Verb: forge.VerbApprove, Problem: "approve takes a commit's id with at least 7 digits, or nothing"},
		"/signalbox approve --upload-pack=x":    {Verb: forge.VerbApprove, Problem: "approve takes a commit's id with at least 7 digits, or nothing"},
		"/signalbox reject too long\nand wrong": {Verb: forge.VerbReject, Text: "too long\nand wrong"},
		"/signalbox reject\nsee below":          {Verb: forge.VerbReject, Text: "see below"},
		"/signalbox reject no <!-- hidden -->":  {Verb: forge.VerbReject, Text: "no"},
		"/signalbox reject no\n<!-- hidden -->": {Verb: forge.VerbReject, Text: "no"},
		"/signalbox reject":                     {Verb: forge.VerbReject, Problem: "reject needs a text"},
		"/signalbox answer 2":                   {Verb: forge.VerbAnswer, Text: "2"},
		"/signalbox answer":                     {Verb: forge.VerbAnswer, Problem: "answer needs a text"},
		"/signalbox run 43":                     {Verb: forge.VerbRun, Problem: "run takes nothing after it"},
		"/signalbox run; rm -rf /":              {Problem: "there is no order `run;`"},
		"/signalbox":                            {Problem: "there is no such order"},
		"/signalbox merge":                      {Problem: "there is no order `merge`"},
		"/signalbox `id`":                       {Problem: "there is no order `id`"},
		"/signalbox \x1b[31mrun":                {Verb: forge.VerbRun},
		"/signalbox-run":                        nil,
		"/signalboxrun":                         nil,
		"please /signalbox run":                 nil,
		"> /signalbox run":                      nil,
		"`/signalbox run`":                      nil,
		"```\n/signalbox run\n```":              nil,
		"thanks\n/signalbox run":                nil,
		"<!-- x -->\n/signalbox run":            nil,
		"":                                      nil,
		"／signalbox run":                        nil,
		"/signalbox\u00a0run":                   nil,
	} {
		got, ok := ParseOrder(body)
		if want == nil {
			if ok {
				t.Errorf("%q is taken for %+v", body, got)
			}
			continue
		}
		if !ok || got != *want {
			t.Errorf("%q is %+v (%t), want %+v", body, got, ok, *want)
		}
		if !isOrder(body) {
			t.Errorf("%q would be shown to agents", body)
		}
	}
	if got, _ := ParseOrder("/signalbox reject " + strings.Repeat("é", 100_000)); len(got.Text) > maxOrderText+len("…") {
		t.Errorf("a text of %d bytes is taken", len(got.Text))
	}
	if got, _ := ParseOrder("/signalbox " + strings.Repeat("x", 100_000)); len(got.Problem) > 200 {
		t.Errorf("a problem of %d bytes is told", len(got.Problem))
	}
}
