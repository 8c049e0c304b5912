package agent

import (
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/mod/semver"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// ErrTooOld: the program does not know the arguments that its driver uses.
var ErrTooOld = errors.New("is too old")

// number finds the version in a program's output.
var number = lazy.Pattern(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// young returns why a version is too old. It returns nil if it isn't, or has no number.
func (p Program) young(version string) error {
	found := number().FindString(version)
	if p.Oldest == "" || found == "" || !semver.IsValid("v"+found) || semver.Compare("v"+found, "v"+p.Oldest) >= 0 {
		return nil
	}
	return fmt.Errorf("%s %s of agent %q %w: Signalbox needs %s or newer%s", p.Title, found, p.Agent, ErrTooOld, p.Oldest, p.upgrading())
}

func (p Program) upgrading() string {
	if p.Install == "" {
		return ""
	}
	return ": " + p.Install + "@latest"
}

// misunderstood matches what command-line libraries print about unknown arguments.
var misunderstood = lazy.Pattern(`(?i)unknown (option|argument|flag|command)|unexpected argument|unrecognized (option|argument|subcommand)|` +
	`argument '[^']*' is invalid|invalid value '[^']*' for|Invalid values:`)

// refused returns the failure of a program that ended at once because of its arguments, or nil. Trying again would end the same way.
func (p Program) refused(end process.Result, e Ending, stderr string) *Failure {
	words := misunderstood().FindString(stderr)
	if end.Ending != process.Exited || end.OK() || e.Conversation != nil || e.Usage != (Usage{}) || words == "" {
		return nil
	}
	why := lastLine(stderr)
	for _, l := range regexp.MustCompile(`[^\n]+`).FindAllString(stderr, -1) {
		if misunderstood().MatchString(l) {
			why = line(l)
			break
		}
	}
	return Fail(Unavailable, "agent %q does not know its arguments: %s. If it is old, update it%s", p.Agent, why, p.upgrading())
}
