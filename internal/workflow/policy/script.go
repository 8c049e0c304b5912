package policy

import (
	"path"
	"slices"
	"strings"
)

// starts reports whether a line starts the file, new or not, or a script in whose folder it is, or a program whose settings it holds by
// its name.
//
// A script may start or load anything beside it: Python even takes a new module there for its own. In the project's own folder that would be
// every change, and beside tests each new one, so there only the script itself counts.
func (r *reading) starts(file string, isNew bool) bool {
	folder, end := path.Dir(file), path.Ext(file)
	return slices.ContainsFunc(r.scripts, func(script string) bool {
		script = path.Clean(script)
		switch beside := folder != "." && names(path.Dir(script), folder); {
		case file == script || slices.Contains(scripts, end) && strings.TrimSuffix(file, end) == script:
			return true
		case isNew:
			base := path.Base(file)
			return beside && end == ".py" && path.Ext(script) == end && !strings.HasPrefix(base, "test_") && !strings.HasSuffix(base, "_test.py")
		default:
			return beside && !slices.Contains(data, strings.ToLower(end))
		}
	}) || slices.ContainsFunc(r.programs, func(program string) bool { return configures(file, program) })
}

// configures reports whether a file is named for the settings or tasks of a program: magefile.go, gulpfile.js, .foorc, foo.toml, foo.config.js.
func configures(file, program string) bool {
	base := strings.ToLower(path.Base(file))
	rest, ok := strings.CutPrefix(strings.TrimPrefix(base, "."), strings.ToLower(program))
	return ok && program != "" && (strings.HasPrefix(rest, "file") || strings.HasPrefix(rest, ".config.") || strings.HasPrefix(base, ".") && strings.HasPrefix(rest, "rc") ||
		slices.Contains(settings, rest))
}
