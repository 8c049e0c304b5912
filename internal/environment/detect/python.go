package detect

import (
	"path"
	"strings"

	"signalbox/internal/lazy"
)

var requirement = lazy.Pattern(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(.*)$`)

// userInfo matches a name and a password in an address.
var userInfo = lazy.Pattern(`://[^/@\s]*@`)

// depends records one requirement in the form of PEP 508: name [extras] constraint ; marker.
func (s *survey) depends(f *File, text string) {
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(userInfo().ReplaceAllString(text, "://"))
	match := requirement().FindStringSubmatch(text)
	switch {
	case match == nil:
	case strings.HasPrefix(match[2], "+") || strings.HasPrefix(match[2], "://"): // an address without a name
		s.depend(f, "pypi", text, "")
	default:
		s.depend(f, "pypi", match[1], strings.Trim(strings.TrimSpace(match[2]), "()"))
	}
}

var comment = lazy.Pattern(`(?:^|\s)#.*`)

func (s *survey) requirements(f *File, text []byte) error {
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(comment().ReplaceAllString(strings.TrimSuffix(line, "\n"), ""))
		s.asking[f.Path] = s.asking[f.Path] || line != ""
		option, value := "", ""
		if strings.HasPrefix(line, "-") {
			option, value, _ = strings.Cut(strings.Replace(line, "=", " ", 1), " ")
		}
		switch option {
		case "":
			line, _, _ = strings.Cut(line, " --") // options of this requirement: --hash
			s.depends(f, line)
		case "-r", "--requirement", "-c", "--constraint":
			name := path.Join(path.Dir(f.Path), strings.TrimSpace(value))
			if !plain(name) || !s.has(name) || len(s.found) >= maxFiles { // only files of the project
				s.note("%s: %q is not included", f.Path, short(name))
				continue
			}
			if s.known[name] {
				continue
			}
			s.known[name] = true
			c := candidate{name, format{kind: "requirements.txt", environment: Python, manifest: true, lines: true, parse: (*survey).requirements}}
			if option == "-c" || option == "--constraint" {
				c.format = format{kind: "constraints.txt", environment: Python, lock: true}
			}
			s.found = append(s.found, c)
		}
	}
	return nil
}

var (
	installRequires = lazy.Pattern(`(?:install_requires|tests_require)\s*=\s*\[([^\]]*)\]`)
	quotedText      = lazy.Pattern(`"([^"\n]+)"|'([^'\n]+)'`)
)

// setupPy reads literal lists of requirements. It does not run setup.py, which is a program.
func (s *survey) setupPy(f *File, text []byte) error {
	s.module(f.Path).installable = true
	for _, list := range installRequires().FindAllSubmatch(text, maxDependencies) {
		for _, quoted := range quotedText().FindAllSubmatch(list[1], maxDependencies) {
			s.depends(f, string(quoted[1])+string(quoted[2]))
		}
	}
	return nil
}
