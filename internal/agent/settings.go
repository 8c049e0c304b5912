package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Settings is one agent's part of the configuration. Every driver of a vendor's program understands all of its fields; command and replay have
// configurations of their own.
type Settings struct {
	// Name is the agent's name in the configuration.
	Name string
	// Program is the program's name or absolute path; empty means the usual name. A relative path is refused: it would depend on where Signalbox was
	// started, and could be the repository's.
	Program string
	// Model is the agent's own name for a model; empty means its default. opencode and pi call models "provider/model", and need one if the task has an
	// Endpoint: the provider says which API to speak.
	Model string
	// Permissions says what the agent may do without asking.
	Permissions Permissions
	// Args are additional arguments, put before the prompt and behind the driver's own, so that most programs let them win; Env are additional variables,
	// KEY=value.
	Args []string
	Env  []string
	// ProjectSettings applies the settings for the agent that the repository contains. They can start programs and allow tools. A driver whose
	// program can't ignore them applies them anyway.
	ProjectSettings bool
}

// Permissions says what an agent may do without asking. A driver translates them into its program's own modes and rules, so the edges differ: what
// counts as an edit is the program's idea.
type Permissions string

const (
	// Everything allows all tools. It suits an environment that is a sandbox already. Codex works in one only so, or with Ask: its own sandbox can't
	// be made inside another.
	Everything Permissions = "everything"
	// Edits allows changing files. Anything the agent's own rules would ask about is denied, so it runs no commands but those of Task.Reports. In
	// Codex commands run too, within its own sandbox.
	Edits Permissions = "edits"
	// ReadOnly allows reading only. It suits planners and reviewers.
	ReadOnly Permissions = "read-only"
	// Ask has the agent put every use that its own rules don't allow to Task.Ask, and wait for the answer. Every driver of a vendor's program supports it
	// but pi's: pi has no permissions.
	Ask Permissions = "ask"
)

// Driver is what the drivers of vendors' programs have in common; each embeds it and adds Run.
type Driver struct {
	// Settings are those that NewDriver accepted.
	Settings Settings
	// program is how the settings name it, before it is looked up.
	program Program
}

// NewDriver checks the settings. p is the program that they configure, which is Args[0] if they name none. further are permissions that only some
// drivers support: Ask, or nothing. It touches no file; Check reports whether the program exists.
func NewDriver(s Settings, p Program, further ...Permissions) (Driver, error) {
	s.Program = cmp.Or(s.Program, p.Args[0])
	var err error
	switch {
	case s.Name == "":
		err = errors.New("it needs a name")
	case strings.Contains(s.Program, "/") && !filepath.IsAbs(s.Program):
		err = fmt.Errorf("program %q is neither absolute nor a plain name", s.Program)
	case s.Permissions == Ask && !slices.Contains(further, Ask):
		err = fmt.Errorf("permissions %q: %w", Ask, ErrCannotAsk)
	case !slices.Contains([]Permissions{Everything, Edits, ReadOnly, Ask}, s.Permissions):
		err = fmt.Errorf("there are no permissions %q", s.Permissions)
	case strings.HasPrefix(s.Model, "-"):
		err = errors.New("a model's name does not begin with a dash")
	}
	if err != nil {
		return Driver{}, fmt.Errorf("configure agent %q: %w", s.Name, err)
	}
	p.Agent, p.Args = s.Name, []string{s.Program}
	return Driver{Settings: s, program: p}, nil
}

// Name implements Agent.
func (d Driver) Name() string { return d.Settings.Name }

// Check implements Agent, by starting the program on this machine with "--version".
func (d Driver) Check(ctx context.Context) (version string, err error) { return d.program.Version(ctx) }

// Located returns the program with its path on this machine, for a call to add arguments, variables and more to it. The copy is the caller's own, so
// overlapping calls don't share slices.
func (d Driver) Located() Program {
	p := d.program
	p.Args, p.Env = slices.Clone(p.Args), slices.Clone(p.Env)
	return p.Located()
}
