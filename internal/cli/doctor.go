package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/doctor"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/notify"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newDoctor(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "doctor",
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			findings := doctor.Examine(c.Context(), p.App)
			if err := a.Show(findings, func() {
				code := map[string]string{doctor.VerdictOK: command.Green, doctor.VerdictWarning: command.Yellow, doctor.VerdictMissing: command.Red}
				for _, f := range findings {
					verdict, what := a.Paint(code[f.Verdict], fmt.Sprintf("%-8s", f.Verdict)), f.What
					for line := range strings.Lines(strings.TrimSuffix(f.Says+"\n"+f.Next, "\n")) {
						a.Print("%s %-14s %s\n", verdict, what, redact.Line(line, command.SayAtMost))
						verdict, what = fmt.Sprintf("%-8s", ""), ""
					}
				}
			}); err != nil {
				return err
			}
			if slices.ContainsFunc(findings, func(f doctor.Finding) bool { return f.Verdict == doctor.VerdictMissing }) {
				return &problem.Error{Code: problem.General}
			}
			return nil
		},
	}
}

func newAgents(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "agents", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found := a.Opener.Installed(c.Context())
			return a.Show(found, func() {
				for _, i := range found {
					says := "no way to its model yet: log in by starting it once, or export its key"
					switch {
					case !i.Found && i.Version != "":
						says = i.Problem
					case !i.Found:
						says = "not found; " + i.Install
					case i.Problem != "":
						says = i.Problem
					case i.Login == config.LoginKey && i.URL != "":
						says = "key in " + i.Key + " for " + redact.Line(i.URL, 200) + " (" + i.URLFrom + ")"
					case i.Login == config.LoginKey:
						says = "key in " + i.Key
					case i.Login == config.LoginOwn:
						says = "login in ~/" + i.Folder
					}
					if i.Found {
						says = redact.Line(i.Version, 60) + "; " + says
					}
					a.Print("%-10s %-12s %s\n", i.Driver, i.Name, redact.Line(says, command.SayAtMost))
				}
			})
		},
	}
}

func newNotify(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "notify", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.OpenTrusted(c.Context())
			if err == nil {
				err = p.ConfigError
			}
			if err != nil {
				return err
			}
			ways := p.Ways()
			if !ways.Any() {
				return &problem.Error{Err: errors.New("the configuration names no way to notify you"), Hint: `add "notify: {desktop: true}" to ` + config.Name}
			}
			if err := ways.Send(c.Context(), notify.Message{Project: p.Name(), Title: "Signalbox: a test", Detail: "This is how runs of " + p.Name() + " call you.",
				At: time.Now().UTC()}); err != nil {
				return err
			}
			p.Print("sent\n")
			return nil
		},
	}
	a.AddTrustFlag(c)
	return c
}
