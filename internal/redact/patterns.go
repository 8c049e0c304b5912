package redact

import (
	"bytes"

	"signalbox/internal/lazy"
)

// pattern is a well-known kind of secret. It starts with a prefix, is on one line as far as the
// window reaches, and continues as long as bytes of a class follow.
type pattern struct {
	// prefix is at least two bytes and has no newline; fold ignores its case (it is lower then).
	prefix string
	fold   bool
	// word requires that no letter or digit precedes, because the prefix ends ordinary words.
	word bool
	// window is how many bytes, including the prefix, decide.
	window int
	// find returns what to hide in a window that starts with the prefix.
	find func(window []byte) (span, bool)
	// kind names it in a change, where a person must look at it; empty for what is ordinary in code.
	kind string
	// closes ends what its class continues.
	closes bool
}

var (
	digits       = newClass("0123456789")
	capitals     = newClass("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	upperDigits  = digits.and(capitals)
	alphanumeric = upperDigits.and(newClass("abcdefghijklmnopqrstuvwxyz"))
	tokenBytes   = alphanumeric.and(newClass("_-"))
	bearerBytes  = tokenBytes.and(newClass(".~+/="))
	// keyBytes may follow the first line of a private key: base64, the headers of an encrypted key,
	// white space, and white space as JSON writes it.
	keyBytes = alphanumeric.and(newClass("+/=:,- \t\r\n\\"))
	// credentialBytes end with the header's line or the quotation around it.
	credentialBytes = newClass(" \t\r\n\"'`\\,;").not()
)

var patterns = []pattern{
	// A token of our own users: any name, then 26 characters of base32.
	{prefix: "sbx_", kind: "a Signalbox token", window: 160, find: hide(`^sbx_[^\s"']{1,120}_[A-Z2-7]{26}`, false, nil)},
	token("a GitHub token", "ghp_", alphanumeric, 20),
	token("a GitHub token", "gho_", alphanumeric, 20),
	token("a GitHub token", "ghu_", alphanumeric, 20),
	token("a GitHub token", "ghs_", tokenBytes, 20),
	token("a GitHub token", "ghr_", alphanumeric, 20),
	token("a GitHub token", "github_pat_", tokenBytes, 20),
	token("a GitLab token", "glpat-", tokenBytes, 16),
	token("a GitLab token", "gldt-", tokenBytes, 16),
	token("a GitLab token", "glrt-", tokenBytes, 16),
	token("a GitLab token", "glcbt-", tokenBytes, 16),
	token("an Anthropic key", "sk-ant-", tokenBytes, 16),
	token("an npm token", "npm_", alphanumeric, 36),
	token("a Google API key", "AIza", tokenBytes, 35),
	token("a Slack token", "xoxb-", tokenBytes, 10),
	token("a Slack token", "xoxp-", tokenBytes, 10),
	word(mixed(token("an API key", "sk-", tokenBytes, 24))),
	// A login with ChatGPT: the token that renews it, and the renewed JWT, whose header and claims begin alike.
	word(mixed(token("a login token", "rt_", bearerBytes, 24))),
	{prefix: "eyJ", kind: "a JSON web token", window: 512, find: hide(`^eyJ[A-Za-z0-9_-]{8,480}\.eyJ`, false, bearerBytes)},
	word(token("an AWS key", "AKIA", upperDigits, 16)),
	word(token("an AWS key", "ASIA", upperDigits, 16)),
	word(mixed(bearer)),
	{prefix: "authorization", fold: true, window: 64, find: hide(
		`(?i)^authorization["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(?:bearer|basic|token)\s{1,3}`, true, credentialBytes)},
	{prefix: "://", window: 512, find: hidePassword},
	{prefix: "-----BEGIN ", kind: "a private key", window: 64, find: hide(
		`^-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----`, false, keyBytes)},
	{prefix: "-----END ", window: 64, closes: true, find: hide(
		`^-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----`, false, nil)},
}

var bearer = pattern{prefix: "bearer ", fold: true, window: len("bearer ") + 20, find: func(window []byte) (span, bool) {
	from := len("bearer ")
	return span{from: from, to: len(window), class: bearerBytes}, bearerBytes.count(window[from:]) >= 20
}}

// token returns a prefix with at least so many bytes of the class after it.
func token(kind, prefix string, c *class, atLeast int) pattern {
	find := func(window []byte) (span, bool) {
		return span{to: len(prefix), class: c}, c.count(window[len(prefix):]) >= atLeast
	}
	return pattern{kind: kind, prefix: prefix, window: len(prefix) + atLeast, find: find}
}

func word(p pattern) pattern {
	p.word = true
	return p
}

// mixed makes p a token only with a digit or a capital: the prefix also starts ordinary names.
func mixed(p pattern) pattern {
	find := p.find
	p.find = func(window []byte) (span, bool) {
		found, ok := find(window)
		return found, ok && bytes.ContainsFunc(window[len(p.prefix):], func(r rune) bool {
			return r < 128 && upperDigits[byte(r)]
		})
	}
	return p
}

// hide returns what finds the expression, and hides it or, with after, only what follows it.
func hide(expression string, after bool, c *class) func([]byte) (span, bool) {
	compiled := lazy.Pattern(expression)
	return func(window []byte) (span, bool) {
		found := span{to: len(compiled().Find(window)), class: c}
		if after {
			found.from = found.to
		}
		return found, found.to > 0
	}
}

var userinfo = lazy.Pattern("^://[^\\s/:@\"'<>`]*:([^\\s/\"'<>`]+)@")

func hidePassword(window []byte) (span, bool) {
	found := userinfo().FindSubmatchIndex(window)
	if found == nil {
		return span{}, false
	}
	return span{from: found[2], to: found[3]}, true
}

// namedValue is a value after the name of a secret: password=…, ?token=…, "api_key": "…", Authorization: Bearer ….
var namedValue = lazy.Pattern(`(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|authorization)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s)?)[^\s"'&;,]{4,}`)

// Named returns s without the values after a secret's name. It is for programs' logs. In code or prose it would hide too much, so a Redactor
// doesn't do it.
func Named(s string) string { return namedValue().ReplaceAllString(s, "${1}"+Replacement) }

// class is a set of bytes.
type class [256]bool

func newClass(members string) *class {
	var c class
	for i := range len(members) {
		c[members[i]] = true
	}
	return &c
}

// and adds the bytes of the other class.
func (c *class) and(other *class) *class {
	both := *c
	for b, member := range other {
		both[b] = both[b] || member
	}
	return &both
}

// not returns every other byte.
func (c *class) not() *class {
	var others class
	for b, member := range c {
		others[b] = !member
	}
	return &others
}

// count returns how many bytes of the class text starts with.
func (c *class) count(text []byte) int {
	for i, b := range text {
		if !c[b] {
			return i
		}
	}
	return len(text)
}

// wordBytes are the bytes of words, in any script.
var wordBytes = func() *class {
	all := *alphanumeric
	for b := 0x80; b <= 0xff; b++ {
		all[b] = true
	}
	return &all
}()
