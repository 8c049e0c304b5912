package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/notify"
	"signalbox/internal/problem"
)

func newNotify(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "notify",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
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
}
