package redact

import (
	"bytes"

	"signalbox/internal/lazy"
)

// pattern is a well-known kind of secret. It starts with a prefix, lies on one line as far as the
// window reaches, and goes on as long as bytes of a class follow.
type pattern struct {
	// prefix is at least two bytes and has no newline; fold ignores its case (it is lower then).
	prefix string
	fold   bool
	// word wants no letter or digit in front, because the prefix ends ordinary words.
	word bool
	// window is how many bytes, the prefix included, are needed to tell.
	window int
	// find returns what to hide in a window that starts with the prefix.
	find func(window []byte) (span, bool)
	// kind is what it is called in a change, where it needs a person; empty for what is ordinary in code.
	kind string
	// closes ends what goes on by its class.
	closes bool
}

var (
	digits       = newClass("0123456789")
	capitals     = newClass("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	upperDigits  = digits.and(capitals)
	alphanumeric = upperDigits.and(newClass("abcdefghijklmnopqrstuvwxyz"))
	tokenBytes   = alphanumeric.and(newClass("_-"))
	bearerBytes  = tokenBytes.and(newClass(".~+/="))
	// keyBytes may follow the first line of a private key: base64, the headers of an encrypted
	// one, white space, and white space as JSON writes it.
	keyBytes = alphanumeric.and(newClass("+/=:,- \t\r\n\\"))
	// credentialBytes end with the header's line or the quotation around it.
	credentialBytes = newClass(" \t\r\n\"'`\\,;").not()
)

var patterns = []pattern{
	kind("a GitHub token", token("ghp_", alphanumeric, 20)),
	kind("a GitHub token", token("gho_", alphanumeric, 20)),
	kind("a GitHub token", token("ghu_", alphanumeric, 20)),
	kind("a GitHub token", token("ghs_", tokenBytes, 20)),
	kind("a GitHub token", token("ghr_", alphanumeric, 20)),
	kind("a GitHub token", token("github_pat_", tokenBytes, 20)),
	kind("a GitLab token", token("glpat-", tokenBytes, 16)),
	kind("a GitLab token", token("gldt-", tokenBytes, 16)),
	kind("a GitLab token", token("glrt-", tokenBytes, 16)),
	kind("a GitLab token", token("glcbt-", tokenBytes, 16)),
	kind("an Anthropic key", token("sk-ant-", tokenBytes, 16)),
	kind("an npm token", token("npm_", alphanumeric, 36)),
	kind("a Google API key", token("AIza", tokenBytes, 35)),
	kind("a Slack token", token("xoxb-", tokenBytes, 10)),
	kind("a Slack token", token("xoxp-", tokenBytes, 10)),
	kind("an API key", word(mixed(token("sk-", tokenBytes, 24)))),
	// A login with ChatGPT: what renews it, and what it renews, a JWT, of which header and claims begin alike.
	kind("a login token", word(mixed(token("rt_", bearerBytes, 24)))),
	{prefix: "eyJ", kind: "a JSON web token", window: 512, find: hideAll(`^eyJ[A-Za-z0-9_-]{8,480}\.eyJ`, bearerBytes)},
	kind("an AWS key", word(token("AKIA", upperDigits, 16))),
	kind("an AWS key", word(token("ASIA", upperDigits, 16))),
	word(mixed(bearer)),
	{prefix: "authorization", fold: true, window: 64, find: hideAfter(
		`(?i)^authorization["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(?:bearer|basic|token)\s{1,3}`, credentialBytes)},
	{prefix: "://", window: 512, find: hidePassword},
	{prefix: "-----BEGIN ", kind: "a private key", window: 64, find: hideAll(
		`^-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----`, keyBytes)},
	{prefix: "-----END ", window: 64, closes: true, find: hideAll(
		`^-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----`, nil)},
}

var bearer = pattern{prefix: "bearer ", fold: true, window: len("bearer ") + 20, find: func(window []byte) (span, bool) {
	from := len("bearer ")
	return span{from: from, to: len(window), class: bearerBytes}, bearerBytes.count(window[from:]) >= 20
}}

// token returns a prefix with at least so many bytes of the class after it.
func token(prefix string, c *class, atLeast int) pattern {
	find := func(window []byte) (span, bool) {
		return span{to: len(prefix), class: c}, c.count(window[len(prefix):]) >= atLeast
	}
	return pattern{prefix: prefix, window: len(prefix) + atLeast, find: find}
}

func kind(called string, p pattern) pattern {
	p.kind = called
	return p
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
			return r < 128 && upperDigits.has(byte(r))
		})
	}
	return p
}

func hideAll(expression string, c *class) func([]byte) (span, bool) {
	compiled := lazy.Pattern(expression)
	return func(window []byte) (span, bool) {
		to := len(compiled().Find(window))
		return span{to: to, class: c}, to > 0
	}
}

func hideAfter(expression string, c *class) func([]byte) (span, bool) {
	compiled := lazy.Pattern(expression)
	return func(window []byte) (span, bool) {
		to := len(compiled().Find(window))
		return span{from: to, to: to, class: c}, to > 0
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

// namedValue is a value behind the name of a secret: password=…, ?token=…, "api_key": "…", Authorization: Bearer ….
var namedValue = lazy.Pattern(`(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|authorization)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s)?)[^\s"'&;,]{4,}`)

// Named returns s without the values after a secret's name. It is for programs' logs. In code or prose it would hide too much, so a Redactor does
// not do it.
func Named(s string) string { return namedValue().ReplaceAllString(s, "${1}"+Replacement) }
