// Package mcp holds "signalbox mcp": the front end for agents, which is a program of its own, and its entry in agents' configurations.
package mcp

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/beside"
	"signalbox/internal/cli/command"
	"signalbox/internal/mcp/clients"
	"signalbox/internal/redact"
)

// New returns the command. version is this program's.
func New(a *command.Invocation, version string) *cobra.Command {
	var approve, others bool
	c := &cobra.Command{
		Use: "mcp", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			args := []string{"-version", version}
			if approve {
				args = append(args, "-approve")
			}
			if others {
				args = append(args, "-environments")
			}
			return beside.Become("signalbox-mcp", args...)
		},
	}
	c.Flags().BoolVar(&approve, "approve", false, "let the client approve changes, and allow what agents ask permission for")
	c.Flags().BoolVar(&others, "environments", false, "offer tools for the entries of environments that other programs make")
	c.AddCommand(newInstall(a), newWrap(a), &cobra.Command{Use: "skill", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) { a.Print("%s", clients.Skill) }})
	return c
}

func newInstall(a *command.Invocation) *cobra.Command {
	var approve bool
	c := &cobra.Command{
		Use: "install CLIENT", Args: cobra.ExactArgs(1), ValidArgs: clients.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			entry := clients.Entry{Program: name(), Args: []string{"mcp"}}
			if approve {
				entry.Args = append(entry.Args, "--approve")
			}
			done, err := clients.Install(p.Root, args[0], a.Opener.Env, entry)
			if err != nil {
				return err
			}
			return a.Show(done, func() {
				if !done.Written {
					a.Print("%s has an entry already; it is kept as it is\n", redact.Line(done.File, 300))
					return
				}
				a.Print("wrote %s; restart %s to use it\n", redact.Line(done.File, 300), done.Client)
			})
		},
	}
	c.Flags().BoolVar(&approve, "approve", false, "let this client approve changes, and allow what agents ask permission for")
	return c
}

// name is how a client starts this program: by its name, if the shell would find it, or else by its path.
func name() string {
	self, err := os.Executable()
	if err != nil {
		return "signalbox"
	}
	if found, err := exec.LookPath("signalbox"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil && found == self {
			return "signalbox"
		}
	}
	return self
}
