package cli

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"signalbox/internal/config"
	"signalbox/internal/notify"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newNotify(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "notify",
		Short: "Send a test notification in every configured way",
		Long: "Send one notification by every way under \"notify\" in " + config.Name + ". Runs send theirs when they need you and when\n" +
			"they end, once each; what you stopped yourself is not told.",
		Example: "  signalbox notify",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.open(c.Context())
			if err == nil {
				err = p.configError
			}
			if err != nil {
				return err
			}
			ways := p.ways()
			if !ways.Any() {
				return &problem{err: errors.New("the configuration names no way to notify you"), hint: `add "notify: {desktop: true}" to ` + config.Name}
			}
			if err := ways.Send(c.Context(), notify.Message{Project: p.name(), Title: "Signalbox: a test", Detail: "This is how runs of " + p.name() + " call you.",
				At: now().UTC()}); err != nil {
				return err
			}
			p.print("sent\n")
			return nil
		},
	}
}

func (p *project) name() string { return filepath.Base(p.root) }

func (p *project) ways() *notify.Config {
	c := p.config.Notify
	return &notify.Config{Desktop: c.Desktop, Command: c.Command, Dir: p.root, Webhook: config.Address(c.Webhook), Ntfy: config.Address(c.Ntfy), Exec: p.host()}
}

// notifying sends what people should hear of the runs that observe is told of, each piece of news once. A notification
// takes no part in the run: one that fails is logged.
func (p *project) notifying(ctx context.Context, observe func(workflow.Run)) func(workflow.Run) {
	ways := p.ways()
	if !ways.Any() {
		return observe
	}
	var mu sync.Mutex
	told := map[string]string{}
	return func(run workflow.Run) {
		if observe != nil {
			observe(run)
		}
		notice, news := run.Notice(), noticeKey(&run)
		mu.Lock()
		known := told[run.RunID] == news
		told[run.RunID] = news
		mu.Unlock()
		if notice == "" || known {
			return
		}
		p.notices.Go(func() {
			if err := ways.Send(context.WithoutCancel(ctx), p.message(&run, notice)); err != nil {
				p.log.Error("notification not sent", "run", run.RunID, "err", err)
			}
		})
	}
}

// noticeKey tells one piece of news from the one before it.
func noticeKey(r *workflow.Run) string {
	news := string(r.Notice()) + " " + r.Journey.Head
	if r.Error != nil {
		news += " " + r.Error.ReasonCode
	}
	if r.Journey.Question != nil {
		news += " " + r.Journey.Question.ID
	}
	return news
}

var noticeTitles = map[workflow.Notice]string{workflow.NoticeAsks: "asks you", workflow.NoticeNeeded: "needs you",
	workflow.NoticeFailed: "failed", workflow.NoticeMerged: "is merged"}

func (p *project) message(r *workflow.Run, notice workflow.Notice) notify.Message {
	clean := func(text string, limit int) string { return redact.Line(p.redact.String(redact.Clean(text)), limit) }
	m := notify.Message{Project: p.name(), Request: r.Journey.Number, RunID: r.RunID, State: string(r.State), At: r.UpdatedAt, Urgent: notice.Urgent(),
		Title: clean(p.name()+" #"+r.Ref()+" "+noticeTitles[notice]+": "+r.Title, 200), Detail: clean(doing(r), 400), Next: "signalbox status " + r.Ref()}
	switch {
	case notice == workflow.NoticeAsks:
		m.Next = "signalbox answer " + r.Ref()
	case r.Error != nil:
		m.Reason, m.Detail = r.Error.ReasonCode, clean(r.Error.Title+": "+r.Error.Message, 600)
	}
	return m
}
