package doctor

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"signalbox/internal/config"
)

// lookAtNotifications reports the entries under notify that can't work. It sends nothing.
func (p *examination) lookAtNotifications(add func(Finding)) {
	c := p.Config.Notify
	if c.Desktop {
		if _, err := exec.LookPath("notify-send"); err != nil {
			add(Finding{"notify", VerdictMissing, "notify.desktop needs the program notify-send, which isn't in PATH", "install it: sudo apt-get install libnotify-bin"})
		}
	}
	if len(c.Command) > 0 {
		program := c.Command[0]
		if strings.Contains(program, "/") && !filepath.IsAbs(program) {
			program = filepath.Join(p.Root, program)
		}
		if _, err := exec.LookPath(program); err != nil {
			add(Finding{"notify", VerdictMissing, fmt.Sprintf("the program of notify.command can't be started: %s", err), "fix notify.command in " + config.Name})
		}
	}
	for _, address := range []struct{ key, value string }{{"notify.webhook", c.Webhook}, {"notify.ntfy", c.Ntfy}} {
		if address.value != "" && config.Address(address.value) == "" {
			add(Finding{"notify", VerdictMissing, fmt.Sprintf("%s takes its address from %s, which isn't set here", address.key, address.value),
				"export it where runs are started"})
		}
	}
}
