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

// Settings is one agent's part of the configuration. Every driver understands all of its fields.
type Settings struct {
	// Name is the agent's name in the configuration.
	Name string
	// Program is the program's name or absolute path; empty means the usual name.
	Program string
	// Model is the agent's own name for a model; empty means its default.
	Model string
	// Permissions says what the agent may do without asking.
	Permissions Permissions
	// Args are additional arguments, put before the prompt; Env are additional variables, KEY=value.
	Args []string
	Env  []string
	// ProjectSettings applies the settings for the agent that the repository contains. They can start programs and allow tools. A driver whose
	// program can't ignore them applies them anyway.
	ProjectSettings bool
}

// Permissions says what an agent may do without asking.
type Permissions string

const (
	// Everything allows all tools. It suits an environment that is a sandbox already.
	Everything Permissions = "everything"
	// Edits allows changing files. Anything the agent's own rules would ask about is denied.
	Edits Permissions = "edits"
	// ReadOnly allows reading only.
	ReadOnly Permissions = "read-only"
	// Ask has the agent put every use that its own rules don't allow to Task.Ask, and wait for the answer.
	Ask Permissions = "ask"
)

// Driver is what the drivers of vendors' programs have in common; each embeds it.
type Driver struct {
	Settings Settings
	program  Program
}

// NewDriver checks the settings. p is the program that they configure, which is Args[0] if they name none. further are permissions that only some
// drivers support. Check reports whether the program exists.
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

// Check implements Agent.
func (d Driver) Check(ctx context.Context) (version string, err error) { return d.program.Version(ctx) }

// Located returns the program with its path on this machine, for a call to add arguments, variables and more to it.
func (d Driver) Located() Program {
	p := d.program
	p.Args, p.Env = slices.Clone(p.Args), slices.Clone(p.Env)
	return p.Located()
}
