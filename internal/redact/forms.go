package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"signalbox/internal/lazy"
)

const (
	// MinLength is the length in bytes from which a value counts as a secret. Removing shorter ones would damage ordinary words.
	MinLength = 6
	// minLine and minHalf: parts of a value are removed on their own only if they are too long to occur by chance.
	minLine = 16
	minHalf = 8
)

// forms returns value in the forms in which programs print it, or nothing when it is too short.
func forms(value string) (all []string) {
	value = strings.TrimSpace(value)
	if len(value) < MinLength || slices.Contains(commonWords, strings.ToLower(value)) {
		return nil
	}
	if seen := Clean(value); seen != value { // as a reader sees it
		all = forms(seen)
	}
	query, path, hexadecimal := url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value))
	// Scripts escape a space by its number, where a query has a plus.
	script := strings.ReplaceAll(query, "+", "%20")
	all = append(all, value,
		query, lowerEscapes(query), script, lowerEscapes(script), path, lowerEscapes(path),
		hexadecimal, strings.ToUpper(hexadecimal),
		quoted(value, false), quoted(value, true),
		strings.ReplaceAll(quoted(value, false), "/", `\/`),          // PHP
		inJSON(value, "", `\u%04x`), inJSON(value, "&'<>", `\u%04x`), // Python, Ruby on Rails
		inJSON(value, "\"&'+<>`", `\u%04X`)) // .NET
	all = append(all, spelled(value)...)
	all = append(all, base64Forms(value)...)
	if half := len(value) / 2; half >= minHalf {
		all = append(all, base64Forms(value[:half])...)
		all = append(all, base64Forms(value[half:])...)
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			all = append(all, line)
		}
	}
	return all
}

// commonWords are choices that variables with a secret's name may have, and that occur in much output:
// SECRET_BACKEND=production. Values like "true" and "8080" are too short to count anyway.
var commonWords = []string{"default", "enabled", "disabled", "required", "optional", "production", "development", "staging", "testing",
	"localhost", "127.0.0.1", "0.0.0.0", "undefined", "unknown", "system", "basic", "bearer", "keyring", "keychain", "libsecret",
	"manager", "database", "kubernetes", "docker", "github", "gitlab", "google", "process", "native", "always"}

// inJSON returns v inside a JSON string of a library that escapes everything but ASCII, and some more characters.
func inJSON(v, besides, escape string) string {
	var out strings.Builder
	for _, r := range v {
		switch {
		case r >= utf8.RuneSelf, strings.ContainsRune(besides, r):
			for _, unit := range utf16.AppendRune(nil, r) {
				_, _ = fmt.Fprintf(&out, escape, unit)
			}
		case r < ' ', r == '"', r == '\\':
			out.WriteString(quoted(string(r), false))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// spelledLength is the length from which a value also counts in other letters: a short one reversed, or in capitals, is a word.
const spelledLength = 8

// spelled returns v letter by letter, as escapes of programming languages and pages write it, and in an order or case that a
// reader easily undoes.
func spelled(v string) (all []string) {
	if len(v) < spelledLength {
		return nil
	}
	for _, letter := range []string{`\x%02x`, `\x%02X`, "%%%02x", "%%%02X", "%02x ", "%02X ", "%02x:", "%02X:", "0x%02x, ", "0x%02x,", "&#%d;", "&#x%x;", "&#x%X;", "=%02X", `\%03o`, `\u%04x`, `\u%04X`} {
		var out strings.Builder
		for i := range len(v) {
			_, _ = fmt.Fprintf(&out, letter, v[i])
		}
		all = append(all, strings.TrimRight(out.String(), " :,"))
	}
	for _, between := range []string{" ", "-", ".", "_", ",", ", ", "  "} {
		all = append(all, strings.Join(strings.Split(v, ""), between))
	}
	letters := []rune(v)
	var twice strings.Builder // bold in pages for a typewriter: each letter struck over itself
	for _, r := range letters {
		twice.WriteString(string(r) + string(r))
	}
	all = append(all, twice.String(), notASCII(v, `\%03o`), notASCII(v, `\x%02x`))
	var shell strings.Builder // as printf %q and set -x write it: a backslash before what a shell takes for more than a letter
	for _, r := range v {
		if r < 0x80 && !alphanumeric[byte(r)] && !strings.ContainsRune("_-./:=@%+,", r) {
			shell.WriteByte('\\')
		}
		shell.WriteRune(r)
	}
	slices.Reverse(letters)
	return append(all, string(letters), strings.ToUpper(v), strings.ToLower(v), html.EscapeString(v),
		strings.ReplaceAll(v, "'", `'\''`), strings.ReplaceAll(v, "'", `'"'"'`), shell.String())
}

// notASCII returns v with all bytes but ASCII escaped, as git and Python write names and bytes.
func notASCII(v, escape string) string {
	var out strings.Builder
	for i := range len(v) {
		if v[i] < utf8.RuneSelf {
			out.WriteByte(v[i])
		} else {
			_, _ = fmt.Fprintf(&out, escape, v[i])
		}
	}
	return out.String()
}

var percent = lazy.Pattern(`%[0-9A-F]{2}`)

func lowerEscapes(escaped string) string {
	return percent().ReplaceAllStringFunc(escaped, strings.ToLower)
}

// quoted returns v as it is inside a JSON string.
func quoted(v string, escapeHTML bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(v); err != nil {
		// This never fails for a string, whose plain form is known already.
		return v
	}
	return strings.Trim(strings.TrimSuffix(out.String(), "\n"), `"`)
}

// base64Forms returns v in base64: alone, with and without padding, in lines as base64(1) and
// openssl(1) break them, and as the middle of something longer.
func base64Forms(v string) (all []string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := encoding.EncodeToString([]byte(v))
		all = append(all, whole, strings.TrimRight(whole, "="), wrapped(whole, 76), wrapped(whole, 64))
		for before := range 3 { // the digits that v alone decides when so many bytes precede it in their group of three
			digits := encoding.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before), v...))
			all = append(all, digits[(before*8+5)/6:(before+len(v))*8/6])
		}
	}
	return all
}

func wrapped(text string, width int) string {
	var out strings.Builder
	for len(text) > width {
		out.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return out.String() + text
}
