package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"signalbox/internal/lazy"
)

// assignment is a line of a file such as .env.
var assignment = lazy.Pattern(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*[=:]\s*(.+?)\s*$`)

// includedSecrets are the values in the files that .worktreeinclude copies to agents, by file and position. They are masked in
// what an agent prints, like any secret.
func (p *Project) includedSecrets(ctx context.Context) (map[string]string, error) {
	names, err := p.IncludedFiles(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	secrets := map[string]string{}
	for _, name := range names {
		text, err := readIncluded(root, name)
		if err != nil { // it isn't copied either
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			for n, value := range SecretsOfLine(line) {
				secrets[fmt.Sprintf("%s:%d:%d", name, i+1, n+1)] = value
			}
		}
	}
	return secrets, nil
}

// readIncluded reads a file that may be copied: a regular one, reached through no link. It reads only the start of a file that is
// larger than any file of settings.
func readIncluded(root *os.Root, name string) (string, error) {
	for part := filepath.Dir(name); part != "."; part = filepath.Dir(part) {
		if info, err := root.Lstat(part); err != nil || !info.IsDir() {
			return "", errors.Join(err, os.ErrInvalid)
		}
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, os.ErrInvalid)
	}
	const most = 1 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(file, most))
	return string(text), err
}

// SecretsOfLine are the values of a line that may be secrets: an assigned value, if its name or its look says so, the password of
// an address, or a line that is one long word.
func SecretsOfLine(line string) (values []string) {
	name, value := "", strings.TrimSpace(line)
	if strings.HasPrefix(value, "#") {
		return nil
	}
	if found := assignment().FindStringSubmatch(line); found != nil {
		name, value = found[1], found[2]
	}
	value = strings.Trim(strings.TrimSuffix(value, ","), `"'`)
	// One long word of letters and digits looks like a key.
	random := len(value) >= randomLength && !strings.ContainsFunc(value, unicode.IsSpace) &&
		strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsLetter)
	if secretName(name) || random {
		values = append(values, value)
	}
	if at, err := url.Parse(value); err == nil && at.User != nil {
		if password, ok := at.User.Password(); ok {
			values = append(values, password)
		}
	}
	return values
}

// randomLength is the length from which a word counts as a secret by its look, in bytes.
const randomLength = 16
