// Package permission owns the patterns that answer an agent's questions without a person: which tools are allowed, and which never are. It does not
// know who asks, and it never guesses: if no pattern matches, a person is asked.
//
// A pattern is the name of a tool, optionally followed by its subject in parentheses: the command, the path or the address. Examples: "Bash(go test
// *)", "Edit(docs/*)", "Read", "mcp__tracker__*". A star matches any text, including none; "\*" is a literal star and "\\" a backslash.
//
// In an allowing pattern a star does not match what joins two commands or leads to another folder:
//
//	; & | < > ( ) $ ` a line end, and ".." as a name
//
// A pattern that should allow one of these must contain it. The name of a tool alone means the same as the name with "(*)", and also allows uses
// without a subject.
//
// In a denying pattern a star matches anything, and each command between such characters is compared separately. That is a convenience and not a
// barrier: the same command can be written in many ways.
package permission

import (
	"errors"
	"fmt"
	"strings"
)

// Rules are patterns. Deny wins over Allow.
type Rules struct{ Allow, Deny []string }

// Verdict is the answer of the rules.
type Verdict string

const (
	Ask   Verdict = "" // no pattern matches: ask a person
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// Use is one use of a tool that an agent asks for.
type Use struct {
	Tool, Subject string
	// Altered: Tool and Subject don't show the whole use, so no pattern can allow it.
	Altered bool
}

// Verdict returns the verdict on a use and the pattern that decided it. A pattern that does not pass Check matches nothing.
func (r Rules) Verdict(u Use) (v Verdict, by string) {
	for _, text := range r.Deny {
		if p, err := parse(text); err == nil && p.denies(u) {
			return Deny, text
		}
	}
	for _, text := range r.Allow {
		if p, err := parse(text); err == nil && !u.Altered && p.allows(u) {
			return Allow, text
		}
	}
	return Ask, ""
}

// Check returns what is wrong with a pattern, or nil.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// Exactly returns the pattern that allows this use and, if it has a subject, no other.
func Exactly(u Use) (text string, err error) {
	text = u.Tool
	if u.Subject != "" {
		text += "(" + strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(u.Subject) + ")"
	}
	if err := Check(text); err != nil || u.Altered || strings.Contains(u.Tool, "*") {
		return "", errors.Join(fmt.Errorf("%q of %q cannot be allowed by a pattern", u.Subject, u.Tool), err)
	}
	return text, nil
}

// pattern is a parsed pattern.
type pattern struct {
	tool []token
	// subject is nil if the pattern is a tool's name alone.
	subject []token
}

// token is a byte or a star.
type token struct {
	byte
	star bool
}

// maxPattern is the longest pattern that is accepted, in bytes; no one reads more.
const maxPattern = 32 << 10

func parse(text string) (pattern, error) {
	tool, subject, limited := strings.Cut(text, "(")
	switch {
	case len(text) > maxPattern:
		return pattern{}, fmt.Errorf("a pattern has more than %d bytes", maxPattern)
	case tool == "" || strings.Trim(tool, toolSigns) != "":
		return pattern{}, fmt.Errorf("pattern %.100q does not begin with the name of a tool", text)
	case limited && (!strings.HasSuffix(subject, ")") || subject == ")"):
		return pattern{}, fmt.Errorf("pattern %.100q is neither a tool nor a tool with its subject in parentheses", text)
	case !limited:
		return pattern{tool: tokens(tool)}, nil
	}
	return pattern{tokens(tool), tokens(strings.TrimSuffix(subject, ")"))}, nil
}

// toolSigns are the characters of tool names, and the star.
const toolSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-*"

func tokens(text string) (all []token) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == '*' || text[i+1] == '\\') {
			i++
			all = append(all, token{text[i], false})
			continue
		}
		all = append(all, token{text[i], text[i] == '*'})
	}
	return all
}

func (p pattern) allows(u Use) bool {
	if !matches(p.tool, u.Tool, nil) {
		return false
	}
	if p.subject == nil {
		return matches([]token{{star: true}}, u.Subject, signs(u.Subject))
	}
	return u.Subject != "" && matches(p.subject, u.Subject, signs(u.Subject))
}

func (p pattern) denies(u Use) bool {
	if !matches(p.tool, u.Tool, nil) {
		return false
	}
	if p.subject == nil || matches(p.subject, u.Subject, nil) {
		return true
	}
	for _, part := range parts(u.Subject) {
		if matches(p.subject, part, nil) {
			return true
		}
	}
	return false
}
