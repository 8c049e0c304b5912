package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/process"
)

// Check implements environment.Driver by running a program in a sandbox. First it ends sandboxes that were being built when
// their Signalbox was killed: bubblewrap's first child waits for its parent forever until it is told to die with it.
func (d *Driver) Check(ctx context.Context) (note string, err error) {
	if _, err := process.SweepOrphans(ctx, d.sandbox.Tag()); err != nil {
		return "", fmt.Errorf("end sandboxes that were cut off: %w", err)
	}
	if d.config.Unsandboxed {
		note := "commands run on this machine without isolation, as --unsandboxed asks"
		if limits := process.LimitsNote(d.config.Limits); limits != "" {
			note += "; " + limits
		}
		return note, nil
	}
	m, err := d.sandbox.Base()
	if err == nil {
		err = d.sandbox.Probe(ctx, sandbox.View{Mounts: m})
	}
	if err != nil {
		refused := func(words string) bool { return strings.Contains(err.Error(), words) }
		if slices.ContainsFunc([]string{"No permissions to create", "Creating new namespace failed", "setting up uid map", "Operation not permitted"}, refused) {
			err = fmt.Errorf("%w: %w", environment.ErrNoNamespaces, err)
		}
		return "", fmt.Errorf("%w: %w", environment.ErrNoIsolation, err)
	}
	return strings.Join(d.sandbox.Notes(), "; "), nil
}

// Try runs a command like one of an environment, but without a network and with an empty work folder, HOME and temporary
// folder, and keeps nothing. It answers questions before there is an environment.
func (d *Driver) Try(ctx context.Context, c process.Command) (process.Result, error) {
	m, err := d.sandbox.Base()
	if err != nil {
		return process.Result{}, err
	}
	for _, path := range []string{sandbox.Workspace, sandbox.Home, "/tmp"} {
		m[path] = sandbox.Mount{Kind: sandbox.Empty}
	}
	if err := errors.Join(d.sandbox.Request(m, sandbox.ReadOnly, d.config.ReadOnly), d.sandbox.Request(m, sandbox.ReadOnly, c.Reads)); err != nil {
		return process.Result{}, fmt.Errorf("try %q: %w", c.Args, err)
	}
	d.sandbox.Follow(m)
	c.Env = sandbox.LastOfEach(slices.Concat(d.config.Variables, []string{"PATH=" + d.path, "HOME=" + sandbox.Home, "TMPDIR=/tmp"}, c.Env))
	return d.sandbox.Isolated(ctx, sandbox.View{Mounts: m}, sandbox.Workspace, c)
}

// tools are the programs that make setups and tests differ from machine to machine.
var tools = []string{"go", "node", "npm", "yarn", "pnpm", "bun", "deno", "python3", "python", "pip3", "pip", "uv", "poetry", "conda",
	"java", "javac", "mvn", "gradle", "gcc", "g++", "clang", "make", "cmake", "rustc", "cargo", "ruby", "bundle", "php", "composer", "dotnet", "git"}

// Fingerprint implements environment.Environment. It identifies a tool by the path, size and time of its file, because asking
// each for its version would take seconds. It doesn't see which version a version manager's shim chooses. Of the variables that
// commands get it leaves out PATH, which often differs without finding another tool.
func (e *Environment) Fingerprint() string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "clone %s\n%s\n%s %s\n%+v\nincluded %s\n", snapshotVersion, e.Isolation(), e.Dir(), e.home, DefaultIdentity, e.included)
	for _, variable := range e.driver.config.Variables {
		if !strings.HasPrefix(variable, "PATH=") {
			_, _ = fmt.Fprintf(sum, "%q\n", variable)
		}
	}
	release, _ := os.ReadFile("/etc/os-release") // a system without one is known by its tools
	_, _ = fmt.Fprintf(sum, "%d\n%s", len(release), release)
	for _, tool := range tools {
		for _, dir := range filepath.SplitList(e.driver.path) {
			path := filepath.Join(dir, tool)
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
				continue
			}
			if real, err := filepath.EvalSymlinks(path); err == nil {
				_, _ = fmt.Fprintf(sum, "%s %s %s %d %d\n", tool, path, real, info.Size(), info.ModTime().UnixNano())
				break
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
