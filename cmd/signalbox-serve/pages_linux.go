package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	account "os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"signalbox/internal/access"
	"signalbox/internal/access/oidc"
	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/git/gitcmd"
	"signalbox/internal/mcp"
	"signalbox/internal/notify"
	"signalbox/internal/private"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/serve"
	"signalbox/internal/web"
	"signalbox/internal/wire"
)

// maxWebhook is the largest webhook, in bytes: GitHub's own limit.
const maxWebhook = 25 << 20

// another is a port that is seldom taken.
var another = map[string]string{"--listen": "7412", "--metrics": "9465"}

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = errors.New("another program has this address")
	}
	if err != nil {
		return nil, &problem.Error{Err: fmt.Errorf("answer at %s: %w", address, err), Hint: "choose a free address of this machine: signalbox serve " + flag + " 127.0.0.1:" + another[flag], Code: problem.Usage}
	}
	return l, nil
}

// pages answers browsers.
type pages struct {
	invocation *command.Invocation
	options    options
	config     *serve.Config
	folder     string
	guard      *access.Guard
	// quiet leaves out each call of a client of MCP.
	quiet *slog.Logger
}

func newPages(a *command.Invocation, o options, c *serve.Config, settings *config.Serve, quiet *slog.Logger) (*pages, error) {
	state, err := private.State(a.Opener.Env)
	if err != nil {
		return nil, err
	}
	p := &pages{invocation: a, options: o, config: c, quiet: quiet, folder: filepath.Join(state, "serve")}
	current := config.CurrentUser(config.UserName(a.Opener.Env), a.Opener.Env)
	var signOn access.SignOn
	if s := settings.OIDC; s.Issuer != "" {
		signOn = oidc.New(s, a.Opener.Env(s.Secret), http.DefaultTransport, time.Now)
	}
	me := access.User{Name: "you", Role: access.Approver}
	if account, err := account.Current(); err == nil {
		me.Name = account.Username
	}
	p.guard, err = access.New(access.Config{Folder: p.folder, Local: me, SignOn: signOn, Redact: redact.New(wire.SecretsOf(os.Environ(), nil)), Log: c.Log,
		Settings: func() (config.Serve, error) {
			now, err := current()
			err = errors.Join(err, o.over(&now.Serve)) // before the settings are copied
			return now.Serve, err
		}})
	return p, err
}

func (p *pages) close() { _ = p.guard.Close() }

// answer has serve answer, and says where.
func (p *pages) answer(ctx context.Context, c *serve.Server, settings *config.Serve) error {
	shown := web.Config{Projects: map[string]web.Open{}, Starter: background.Starter{Program: c.Program}, Audit: p.guard.Audit(), Logger: c.Log}
	mux := http.NewServeMux()
	for _, project := range c.Projects {
		open := func(ctx context.Context) (context.Context, *app.App, func(), error) {
			a, release := c.Use(ctx, project.Name)
			if a == nil {
				return command.OpenForCall(ctx, project.Opener)
			}
			ctx, endGit := gitcmd.Scope(ctx)
			return ctx, a, func() { endGit(); release() }, nil
		}
		shown.Projects[project.Name] = open
		mux.Handle("/p/"+project.Name+"/mcp", p.guard.Protect(mcp.Handler(mcp.Config{Open: open, Name: project.Name, Starter: shown.Starter, Audit: shown.Audit, Version: p.options.version, Logger: p.quiet})))
	}
	page, err := web.New(ctx, shown)
	if err != nil {
		return err
	}
	l, err := listen(ctx, "--listen", settings.Listen)
	if err != nil {
		return err
	}
	here, everywhere := addresses(l, settings)
	c.Listener, c.Address = p.guard.Listener(l), everywhere
	secure, err := access.TLS(settings.TLS.Certificate, settings.TLS.Key, c.Log)
	if settings.TLS.Certificate == "" {
		secure, err = nil, nil
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	c.Server = func(own http.Handler) *http.Server {
		mux.Handle("/healthz", p.guard.Public(own, 0))
		mux.Handle("/webhook/", p.guard.Public(own, maxWebhook))
		mux.Handle("/", p.guard.Protect(page))
		server := p.guard.Server(mux)
		server.TLSConfig = secure
		return server
	}
	if c.System != nil { // its output is kept: no one-time address belongs there
		return nil
	}
	return p.enter(ctx, here)
}

// enter has the browser opened at an address that logs it in, once. It prints the address if nothing is to be opened, or can be.
func (p *pages) enter(ctx context.Context, address string) error {
	ticket, err := p.guard.Ticket(ctx)
	if err != nil {
		return err
	}
	if p.options.open {
		if err = p.browse(ctx, address+ticket); err == nil {
			return nil
		}
		p.invocation.Warn("no browser was opened: %s", redact.Line(err.Error(), 300))
	}
	_, _ = fmt.Fprintf(p.invocation.Bare.Out, "open in your browser, once and within 10 minutes: %s\n", address+ticket)
	return nil
}

// opens is how long xdg-open may take to fail. It may also be the browser itself, and stay.
const opens = 2 * time.Second

func (p *pages) browse(ctx context.Context, address string) error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no display (DISPLAY and WAYLAND_DISPLAY are empty)")
	}
	program, err := exec.LookPath("xdg-open")
	if err != nil {
		return err
	}
	// Other users see the arguments of programs, so the browser is given a file.
	file := filepath.Join(p.folder, "open.html")
	content := `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=` + html.EscapeString(address) + `">`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return err
	}
	d, err := process.Detach(program, p.folder, []string{file})
	if err != nil {
		return err
	}
	defer d.Forget()
	select {
	case <-d.Ended:
		if code := d.ExitCode(); code != 0 {
			return fmt.Errorf("%s ended with exit code %d %s", program, code, d.Said())
		}
	case <-time.After(opens):
	case <-ctx.Done():
	}
	return nil
}

// ofAnother opens the page of the serve that has the projects already, if --open asks for a page.
func (p *pages) ofAnother(ctx context.Context, err error) error {
	if !p.options.open || err == nil {
		return err
	}
	s, failed := p.config.Projects[0].Opener.OpenStoreToRead(ctx)
	if failed != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	address, _, served := strings.Cut(notify.Pages(ctx, s), "/p/")
	if !served {
		return err
	}
	return p.enter(ctx, address)
}

// addresses are where this machine's browsers find the pages, and where others do. A server of this machine alone that has another name is behind a
// proxy, which has the certificate.
func addresses(l net.Listener, settings *config.Serve) (here, everywhere string) {
	scheme := "http"
	if settings.TLS.Certificate != "" {
		scheme = "https"
	}
	here = scheme + "://" + l.Addr().String()
	if len(settings.Names) == 0 {
		return here, here
	}
	everywhere = "https://" + settings.Names[0]
	if _, port, _ := net.SplitHostPort(l.Addr().String()); scheme == "https" && port != "443" {
		everywhere += ":" + port
	}
	if !settings.Loopback() {
		here = everywhere
	}
	return here, everywhere
}
