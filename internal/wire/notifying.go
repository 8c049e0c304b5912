package wire

import (
	"context"
	"path/filepath"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/notify"
	"signalbox/internal/redact"
	"signalbox/internal/wire/hosting"
	"signalbox/internal/workflow"
)

func (p *Project) Name() string { return filepath.Base(p.Root) }

func (p *Project) Ways() *notify.Config {
	c := p.Config.Notify
	return &notify.Config{Desktop: c.Desktop, Command: c.Command, Dir: p.Root, Webhook: config.Address(c.Webhook), Ntfy: config.Address(c.Ntfy),
		Slack: config.Address(c.Slack), Discord: config.Address(c.Discord),
		Exec: hosting.WithoutToken{Executor: p.Host(), Names: p.Config.Forge.TokenVariables()}}
}

// notifying passes every transition on to observe, and tells what it's worth.
func (p *Project) notifying(ctx context.Context, observe func(workflow.Run)) func(workflow.Run) {
	if !p.Ways().Any() {
		return observe
	}
	return func(run workflow.Run) {
		if observe != nil {
			observe(run)
		}
		p.Tell(ctx, run)
	}
}

// Tell sends the notification that a run is worth as it is now, each piece of news once in all processes. One that fails is only logged: the run
// doesn't depend on it.
func (p *Project) Tell(ctx context.Context, run workflow.Run) {
	ctx = context.WithoutCancel(ctx)
	notice, news := run.Notice(), ""
	if notice != "" {
		news = string(notice) + " " + run.Details.Head
		if run.Error != nil {
			news += " " + run.Error.ReasonCode
		}
		if run.Details.Question != nil {
			news += " " + run.Details.Question.ID
		}
	}
	if known, was := p.news.Swap(run.RunID, news); was && known == news || !p.Ways().Any() {
		return
	}
	claimed, err := notify.Claim(ctx, p.Store, &run, news)
	if err != nil {
		p.Log.Error("notification not sent", "run", run.RunID, "err", err)
	}
	if !claimed {
		return
	}
	p.Notices.Go(func() {
		if err := p.Ways().Send(ctx, p.message(ctx, &run, notice)); err != nil {
			p.Log.Error("notification not sent", "run", run.RunID, "err", err)
		}
	})
}

var noticeTitles = map[workflow.Notice]string{workflow.NoticeAsks: "asks you", workflow.NoticeNeeded: "needs you",
	workflow.NoticeFailed: "failed", workflow.NoticeMerged: "is merged"}

func (p *Project) message(ctx context.Context, r *workflow.Run, notice workflow.Notice) notify.Message {
	clean := func(text string, limit int) string { return redact.Line(p.Redact.String(redact.Clean(text)), limit) }
	m := notify.Message{Project: p.Name(), Request: r.Details.Number, RunID: r.RunID, State: string(r.State), At: r.UpdatedAt, Urgent: notice.Urgent(),
		Title: clean(p.Name()+" #"+r.Ref()+" "+noticeTitles[notice]+": "+r.Title, 200), Detail: clean(commandline.Doing(r), 400), Next: "signalbox status " + r.Ref(), URL: notify.PageOf(ctx, p.Store, r)}
	switch {
	case notice == workflow.NoticeAsks:
		m.Next = "signalbox answer " + r.Ref()
	case r.Error != nil:
		m.Reason, m.Detail = r.Error.ReasonCode, clean(r.Error.Title+": "+r.Error.Message, 600)
	}
	return m
}
