package serve

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// System is the service manager that started this process, as systemd's sd_notify protocol has it. A nil one is none.
type System struct {
	socket   string
	watchdog time.Duration
}

// TheSystem returns the service manager, and takes its variables out of the environment: the processes of runs must not speak for serve.
func TheSystem() *System {
	socket := os.Getenv("NOTIFY_SOCKET")
	usec, _ := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	if socket == "" {
		return nil
	}
	return &System{socket, time.Duration(usec) * time.Microsecond}
}

// Tell sends an assignment such as READY=1.
func (s *System) Tell(state string) {
	if s == nil {
		return
	}
	to, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_, _ = to.Write([]byte(state))
	_ = to.Close()
}

// Watchdog is ready whenever it's time to say WATCHDOG=1.
func (s *System) Watchdog() <-chan time.Time {
	if s == nil || s.watchdog <= 0 {
		return nil
	}
	return time.NewTicker(s.watchdog / 2).C
}

// Unit returns a systemd user unit that runs serve with these arguments.
func Unit(program string, args []string, path string) string {
	line := make([]string, 0, len(args)+2)
	for _, arg := range append([]string{program, "serve"}, args...) {
		line = append(line, quoted(strings.ReplaceAll(arg, "$", "$$")))
	}
	return fmt.Sprintf(`# To use it: mkdir -p ~/.config/systemd/user && signalbox serve --unit >~/.config/systemd/user/signalbox.service
#            systemctl --user daemon-reload && systemctl --user enable --now signalbox
# To have it run while you are logged out: loginctl enable-linger
[Unit]
Description=Signalbox keeps runs of coding agents going
Documentation=man:signalbox-serve(1)

[Service]
Type=notify
ExecStart=%s
Environment=%s
# Keys of agents, one NAME=value a line; only you may read it.
EnvironmentFile=-%%h/.config/signalbox/environment
Restart=always
RestartSec=2
# 5 is that another serve has the project, 2 a wrong command line: starting again won't help.
RestartPreventExitStatus=2 5
WatchdogSec=60
TimeoutStartSec=300
TimeoutStopSec=30
# Runs are processes of their own: they go on while serve is stopped or replaced.
KillMode=process

[Install]
WantedBy=default.target
`, strings.Join(line, " "), quoted("PATH="+path))
}

// quoted is a word as units have it, with specifiers taken literally.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word) + `"`
}
