package doctor

import (
	"context"
	"fmt"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/wire"
)

// lookAtLines reports the command lines of the configuration that can't do their work: sh can't read them, or their program is neither
// in the project nor where commands run.
func (p *examination) lookAtLines(ctx context.Context, add func(Finding)) {
	base, _ := p.Base(ctx) // lookAtStart reports what is wrong with it
	for _, l := range p.Lines(forge.Request{}) {
		if wrong := p.CheckLine(ctx, l, base, true); wrong != nil {
			add(findingOfLine(l.Key, wrong))
		}
	}
}

func findingOfLine(what string, wrong *wire.LineError) Finding {
	f := Finding{what, VerdictMissing, wrong.Says, wrong.Next}
	if wrong.Unsure {
		f.Verdict, f.Next = VerdictWarning, "nothing, if the setup brings it; a run finds out before anything is paid for"
		switch {
		case wrong.Line.Key == "stress":
			f.Next = "nothing, if the setup brings it; otherwise a run finds out only after the change is made"
		case strings.HasPrefix(wrong.Line.Key, "environment."):
			f.Next = "nothing, if the setup brings it; otherwise the setup fails, and an agent is called to correct it"
		}
	}
	return f
}

// lookAtRequest reports what would stop a run of one request before its first call.
func (p *examination) lookAtRequest(ctx context.Context, r forge.Request, all []forge.Request, add func(Finding)) {
	what := fmt.Sprintf("request %d", r.Number)
	if err := app.CheckDependencies(r, all); err != nil {
		add(findingOf(what, err))
	}
	base := r.Base
	if base == "" {
		base, _ = p.Base(ctx) // lookAtStart reports what is wrong with it
	} else if err := p.MayMergeInto(ctx, base, r); err != nil {
		add(findingOf(what, err))
	}
	if len(r.Tests) == 0 || !p.counts() {
		return
	}
	for _, l := range p.Lines(r) {
		if l.File != r.Path {
			continue
		}
		if wrong := p.CheckLine(ctx, l, base, true); wrong != nil {
			wrong.Says = "tests in " + l.File + ": " + wrong.Says
			add(findingOfLine(what, wrong))
		}
	}
}
