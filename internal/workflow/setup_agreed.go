package workflow

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Who says how an environment is set up.
const (
	SetUpByConfiguration = "configuration"
	SetUpByPlan          = "plan"      // the planner's own commands, which nothing of the project's says
	SetUpByDetection     = "detection" // the project's files, at the commit where the branch begins
	SetUpByDefault       = "defaults"  // what Signalbox does for an environment that the plan named without commands
)

// Agreement is a person's consent to the tests running on what a set-up leaves. A set-up can export a PATH or a function
// that makes any test pass, so one that a model wrote proves nothing until a person has seen its commands.
type Agreement struct {
	// Content is the SetUp.Content that was agreed to: another command is another content.
	Content string    `json:"content"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// Content identifies all that a set-up runs and where: its environment's name, its commands and its verification, which
// runs in the same shell. It is a SHA-256 in hex.
func (s *SetUp) Content() string {
	type verification struct{ Command, Expected string }
	content := struct {
		Name         string
		Commands     []string
		Verification []verification
	}{Name: s.Name, Commands: append([]string{}, s.Commands...), Verification: []verification{}}
	for _, v := range s.Verification {
		content.Verification = append(content.Verification, verification{v.Command, v.Expected})
	}
	data, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("workflow: encode set-up: %v", err)) // strings are always encoded
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum)
}

// NeedsAgreement reports whether tests would run on what a model's set-up left and no person agreed to it. Corrected commands are a
// model's whatever they say, because they were tried until they passed. A set-up that failed is not repeated for the tests that
// decide, so it needs nobody.
func (s *SetUp) NeedsAgreement() bool {
	byModel := s != nil && (s.Source == SetUpByPlan || s.Repaired)
	return byModel && s.Status == SetUpSucceeded && (s.Agreed == nil || s.Agreed.Content != s.Content())
}

// Question names in full what a person agrees to, one command a line.
func (s *SetUp) Question() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a model wrote how the environment %q is set up, and the tests run on what that leaves.\n"+
		"To approve is to agree to exactly these commands, in later runs too:", s.Name)
	for _, line := range s.Shown() {
		b.WriteString("\n    " + line)
	}
	return b.String()
}

// Shown are the commands in full and in order, one line each.
func (s *SetUp) Shown() (lines []string) {
	for _, command := range s.Commands {
		lines = append(lines, visible(command))
	}
	for _, v := range s.Verification {
		lines = append(lines, visible(v.Command)+"   (verification, prints "+strconv.Quote(v.Expected)+")")
	}
	return lines
}

// visible is a command as it is where every character of it can be seen, and quoted as Go quotes it otherwise: nothing
// of it may be lost on the way to a terminal.
func visible(command string) string {
	for _, r := range command {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(command)
		}
	}
	return command
}
