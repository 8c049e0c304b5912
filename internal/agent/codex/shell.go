package codex

import (
	"path"
	"slices"
	"strings"

	"signalbox/internal/agent"
)

// shells are the programs whose "-c" is known to run a script. The model names the shell, and could name any program.
var shells = []string{"/bin/bash", "/bin/sh", "/bin/dash", "/bin/zsh", "/usr/bin/bash", "/usr/bin/sh", "/usr/bin/dash", "/usr/bin/zsh"}

// script returns the script that a command passes to a shell, or otherwise the command as it is. It splits the command into words as a shell would,
// and gives up on anything that a shell would expand.
func script(command string) string {
	var words []string
	for rest := strings.TrimLeft(command, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		word, after, whole := cut(rest)
		if !whole {
			return command
		}
		words, rest = append(words, word), after
	}
	if len(words) == 3 && slices.Contains(shells, words[0]) && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return command
}

// placed returns a script that runs in cwd, as a person would type it in dir.
func placed(script, cwd, dir string) string {
	if cwd == "" || path.Clean(cwd) == path.Clean(dir) {
		return script
	}
	folder := agent.Below(dir, cwd)
	if folder == "" || strings.Trim(folder, plain) != "" {
		folder = "'" + strings.ReplaceAll(folder, "'", `'\''`) + "'"
	}
	return "cd " + folder + " && " + script
}

// plain are the characters that need no quotes in a shell, and mean themselves.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-./:=@_,%"

// cut returns the first word of text and what follows it.
func cut(text string) (first, rest string, ok bool) {
	var word strings.Builder
	for text != "" && text[0] != ' ' {
		switch c := text[0]; {
		case c == '\'' || c == '"':
			if text, ok = unquote(&word, text[1:], c); !ok {
				return "", "", false
			}
		case strings.IndexByte(plain, c) >= 0:
			word.WriteByte(c)
			text = text[1:]
		default:
			return "", "", false
		}
	}
	return word.String(), text, true
}

// unquote adds text up to the closing quote to word, and returns what follows that.
func unquote(word *strings.Builder, text string, quote byte) (rest string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return text[i+1:], true
		case quote == '"' && (c == '$' || c == '`'):
			return "", false
		case quote == '"' && c == '\\':
			i++
			if i == len(text) || strings.IndexByte("$`\"\\", text[i]) < 0 {
				return "", false
			}
			word.WriteByte(text[i])
		default:
			word.WriteByte(c)
		}
	}
	return "", false
}
