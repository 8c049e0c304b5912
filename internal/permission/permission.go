// Package permission owns the patterns by which an agent's questions are answered without a person:
// what is harmless, and what never is. It refuses to know who asks, and to guess: what a pattern does
// not plainly say is asked about.
//
// A pattern is the name of a tool, or the name and in parentheses its subject: the command, the path or
// the address. "Bash(go test *)", "Edit(docs/*)", "Read", "mcp__tracker__*". A star stands for any text,
// also none; "\*" is a star, and "\\" a backslash.
//
// Where a pattern allows, a star does not stand for what makes two commands of one or leads elsewhere:
//
//	; & | < > ( ) $ ` a line end, and ".." as a name
//
// A pattern that is to allow one of these says so itself. The name of a tool alone is the same as the
// name with "(*)", and also allows uses that have no subject.
//
// Where a pattern denies, a star stands for anything, and each of the commands that such signs part is
// held against it. It still is no fence: one command can be written in many ways.
package permission

import (
	"errors"
	"fmt"
	"strings"
)

// Rules are patterns. What one of Deny matches is denied, whatever Allow says.
type Rules struct{ Allow, Deny []string }

// Verdict is what rules say.
type Verdict string

const (
	Ask   Verdict = "" // nothing: a person is asked
	Allow Verdict = "allow"
	Deny  Verdict = "deny"
)

// Use is a tool that an agent wants to use.
type Use struct {
	Tool, Subject string
	// Altered: Tool and Subject are not all of it, so that nothing allows it.
	Altered bool
}

// Verdict is what the rules say of a use, and the pattern that says it. A pattern that does not pass
// Check matches nothing.
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

// Check reports what is wrong with a pattern.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// Exactly is the pattern that allows this use and, where it has a subject, no other.
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

// pattern is one, taken apart.
type pattern struct {
	tool []token
	// subject is nil where the tool stands alone.
	subject []token
}

// token is a byte, or a star.
type token struct {
	byte
	star bool
}

// maxPattern is more than anybody reads, in bytes.
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

// toolSigns are what names of tools are made of, and the star.
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
