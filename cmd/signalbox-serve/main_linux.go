// Command signalbox-serve keeps projects going. "signalbox serve" becomes it; people don't start it. It is a program of its own because what it needs
// would slow every start of signalbox.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"golang.org/x/term"

	"signalbox/internal/access"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/serve"
	"signalbox/internal/serve/trace"
)

func main() {
	if err := process.DropInherited(); err != nil {
		fmt.Fprintln(os.Stderr, "error: drop the files and limits inherited from the caller:", err)
		os.Exit(1)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // it is idle most of the time: memory is worth more than speed
	}
	a := command.NewInvocation(command.System())
	if err := run(a); err != nil {
		a.ShowError(err)
		os.Exit(problem.CodeOf(err))
	}
}

// options are the flags, which "signalbox serve" has checked.
type options struct {
	version, listen, metrics, token string
	noWeb, open, unit               bool
	json, verbose                   bool
	maxParallel                     int
	folders                         []string
	// writing is for one line of the log at a time.
	writing *sync.Mutex
}

func parsed() (o options) {
	o.writing = &sync.Mutex{}
	flag.StringVar(&o.version, "version", "(unknown)", "")
	flag.StringVar(&o.listen, "listen", "", "")
	flag.StringVar(&o.metrics, "metrics", "", "")
	flag.BoolVar(&o.noWeb, "no-web", false, "")
	flag.BoolVar(&o.open, "open", false, "")
	flag.BoolVar(&o.unit, "unit", false, "")
	flag.BoolVar(&o.json, "json", false, "")
	flag.BoolVar(&o.verbose, "verbose", false, "")
	flag.IntVar(&o.maxParallel, "max-parallel", 0, "")
	flag.StringVar(&o.token, "token", "", "")
	flag.Parse()
	o.folders = flag.Args()
	return o
}

func run(a *command.Invocation) error {
	o := parsed()
	if o.token != "" {
		token, hash := access.NewToken(o.token)
		s := config.DefaultUser().Serve
		s.Users = map[string]config.ServeUser{o.token: {Role: access.Viewer.String(), Token: hash}}
		if err := s.Validate(); err != nil {
			return &problem.Error{Err: err, Code: problem.Usage}
		}
		_, _ = fmt.Fprintf(a.Bare.Out, "the token, shown this once: %s\nin serve.users of %s:\n  %s: {role: viewer, token: '%s'}\n", token, config.UserName(a.Opener.Env), o.token, hash)
		return nil
	}
	system := serve.TheSystem()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find signalbox: %w", err)
	}
	program := filepath.Join(filepath.Dir(self), "signalbox")
	user, err := config.LoadUser(config.UserName(a.Opener.Env), a.Opener.Env)
	if err != nil {
		return &problem.Error{Err: err, Code: problem.Usage}
	}
	settings := &user.Serve
	if err := o.over(settings); err != nil {
		return &problem.Error{Err: err, Code: problem.Usage}
	}
	s := &secrets{}
	log := o.logger(a, s, slog.LevelInfo)
	roots, err := folders(o.folders, settings.Projects, a.Opener.Dir, func(err error) { log.Warn("a project is left out", "err", err) })
	if err != nil {
		return err
	}
	if o.unit {
		if len(o.folders) == 0 && len(settings.Projects) > 0 {
			roots = nil // what the user's configuration says when it starts
		}
		a.Print("%s", serve.Unit(program, o.words(roots), os.Getenv("PATH")))
		return nil
	}
	c := serve.Config{Program: program, AtOnce: settings.MaxParallel, Labels: settings.Labels, System: system, Hide: s.hide, Log: log}
	if c.Traces, err = trace.FromEnv(a.Opener.Env); err != nil {
		return &problem.Error{Err: err, Code: problem.Usage}
	}
	c.Projects = projects(a, roots, s, log)
	if settings.Metrics != "" {
		if c.Metrics, err = listen(ctx, "--metrics", settings.Metrics); err != nil {
			return err
		}
	}
	if o.noWeb {
		return kept(ctx, c, func(*serve.Server) error { return nil })
	}
	pages, err := newPages(a, o, &c, settings, o.logger(a, s, slog.LevelWarn))
	if err != nil {
		return err
	}
	defer pages.close()
	return pages.ofAnother(ctx, kept(ctx, c, func(s *serve.Server) error { return pages.answer(ctx, s, settings) }))
}

// kept keeps the projects going, once it has them and answer has it answer.
func kept(ctx context.Context, c serve.Config, answer func(*serve.Server) error) error {
	s, err := serve.Take(ctx, c)
	if err != nil {
		return err
	}
	if err = answer(s); err == nil {
		s.Keep(ctx)
	}
	return errors.Join(err, s.Release(context.WithoutCancel(ctx)))
}

// over puts the flags over the user's settings.
func (o *options) over(s *config.Serve) error {
	if o.listen != "" {
		s.Listen = o.listen
	}
	if o.metrics != "" {
		s.Metrics = o.metrics
	}
	if o.maxParallel > 0 {
		s.MaxParallel = o.maxParallel
	}
	return s.Validate()
}

// words are the arguments of a unit that does what this command would do.
func (o *options) words(roots []string) (words []string) {
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "version" && f.Name != "unit" && f.Name != "open" {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	if len(roots) > 0 {
		words = append(append(words, "--"), roots...)
	}
	return words
}

// logger writes what is said at a level and above to standard error, without secrets: as a person reads it at a terminal, else for programs.
func (o *options) logger(a *command.Invocation, s *secrets, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: s.replace}
	if o.verbose {
		options.Level = slog.LevelDebug
	}
	if o.json {
		return slog.New(slog.NewJSONHandler(a.Bare.Err, options))
	}
	if file, is := a.Bare.Err.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		return slog.New(&console{options: options, secrets: s, to: file, writing: o.writing})
	}
	return slog.New(slog.NewTextHandler(a.Bare.Err, options))
}
