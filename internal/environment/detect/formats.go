package detect

import (
	"path"
	"strings"
)

// script is the kind of a file that a setup command starts.
const script = "script"

// format is one kind of file that says something about the environment.
type format struct {
	kind           string
	environment    string
	manifest, lock bool
	// parse reads what the file says from the first maxParsed bytes; nil: only the digest matters.
	parse func(s *survey, f *File, text []byte) error
	// lines: the beginning of a longer file makes sense on its own.
	lines bool
	// root: only a file in the project's root counts.
	root bool
	// unlisted: the file only helps to read others, and is not in the result.
	unlisted bool
}

// baseNames returns the formats that a file's base name decides. It is a function because its parsers use
// it again.
func baseNames() map[string]format {
	return map[string]format{
		"pyproject.toml":   {environment: Python, manifest: true, parse: (*survey).pyproject},
		"setup.py":         {environment: Python, manifest: true, parse: (*survey).setupPy, lines: true},
		"Pipfile":          {environment: Python, manifest: true, parse: (*survey).pipfile},
		"Pipfile.lock":     {environment: Python, lock: true},
		"poetry.lock":      {environment: Python, lock: true},
		"uv.lock":          {environment: Python, lock: true},
		"environment.yml":  {environment: Miniforge, manifest: true, parse: (*survey).conda},
		"environment.yaml": {environment: Miniforge, manifest: true, parse: (*survey).conda, kind: "environment.yml"},
		"condaenv.yaml":    {environment: Miniforge, manifest: true, parse: (*survey).conda},
		"condaenv.yml":     {environment: Miniforge, manifest: true, parse: (*survey).conda, kind: "condaenv.yaml"},

		"package.json":        {environment: Node, manifest: true, parse: (*survey).packageJSON},
		"package-lock.json":   {environment: Node, lock: true},
		"npm-shrinkwrap.json": {environment: Node, lock: true},
		"yarn.lock":           {environment: Node, lock: true},
		"pnpm-lock.yaml":      {environment: Node, lock: true},
		"pnpm-workspace.yaml": {environment: Node, lock: true},

		"pom.xml":             {environment: Java, manifest: true, parse: (*survey).pom},
		"build.gradle":        {environment: Java, manifest: true, parse: (*survey).gradle, lines: true},
		"build.gradle.kts":    {environment: Java, manifest: true, parse: (*survey).gradle, lines: true, kind: "build.gradle"},
		"settings.gradle":     {environment: Java, manifest: true},
		"settings.gradle.kts": {environment: Java, manifest: true, kind: "settings.gradle"},
		"gradle.lockfile":     {environment: Java, lock: true},
		"libs.versions.toml":  {environment: Java, lock: true},

		"go.mod":      {environment: Go, manifest: true, parse: (*survey).goMod},
		"go.sum":      {environment: Go, lock: true},
		"go.work":     {environment: Go, lock: true},
		"go.work.sum": {environment: Go, lock: true},

		"Dockerfile":          {parse: (*survey).dockerfile, lines: true},
		"Containerfile":       {parse: (*survey).dockerfile, lines: true, kind: "Dockerfile"},
		"docker-compose.yml":  {parse: (*survey).compose},
		"docker-compose.yaml": {parse: (*survey).compose, kind: "docker-compose.yml"},
		"compose.yml":         {parse: (*survey).compose, kind: "docker-compose.yml"},
		"compose.yaml":        {parse: (*survey).compose, kind: "docker-compose.yml"},

		"mise.toml":       {parse: (*survey).mise, root: true},
		".mise.toml":      {parse: (*survey).mise, root: true, kind: "mise.toml"},
		".tool-versions":  {parse: (*survey).toolVersions, root: true, lines: true},
		".nvmrc":          {parse: (*survey).versionFile, root: true},
		".node-version":   {parse: (*survey).versionFile, root: true},
		".python-version": {parse: (*survey).versionFile, root: true},
		"Makefile":        {parse: (*survey).makefile, root: true, lines: true},
		"makefile":        {parse: (*survey).makefile, root: true, lines: true, kind: "Makefile"},
		"GNUmakefile":     {parse: (*survey).makefile, root: true, lines: true, kind: "Makefile"},
		".gitignore":      {parse: (*survey).gitignore, lines: true, unlisted: true},
		"AGENTS.md":       {parse: (*survey).agents, root: true, lines: true},
	}
}

// formatOf returns the format of a file by its path.
func formatOf(name string, baseNames map[string]format) (format, bool) {
	dir, base := path.Split(name)
	stem, isText := strings.CutSuffix(base, ".txt")
	switch {
	case name == ".devcontainer.json", name == ".devcontainer/devcontainer.json":
		return format{kind: "devcontainer.json", parse: (*survey).devcontainer}, true
	case name == ".github/workflows/copilot-setup-steps.yml", name == ".github/workflows/copilot-setup-steps.yaml":
		return format{kind: "copilot-setup-steps.yml", parse: (*survey).copilotSteps}, true
	case strings.HasPrefix(name, ".") && dir != "" && base != "Dockerfile":
		return format{}, false
	case isText && (strings.HasPrefix(stem, "requirements") || strings.HasSuffix(stem, "-requirements") || path.Base(dir) == "requirements"):
		// requirements.txt, requirements-dev.txt, test-requirements.txt, requirements/dev.txt
		return format{kind: "requirements.txt", environment: Python, manifest: true, lines: true, parse: (*survey).requirements}, true
	}
	f, known := baseNames[base]
	if f.kind == "" {
		f.kind = base
	}
	return f, known
}

// passed are folders whose files are not the project's own, or are generated, or are examples: their needs
// are not the project's.
var passed = map[string]bool{
	"node_modules": true, "bower_components": true, "venv": true, "virtualenv": true, "site-packages": true,
	"third_party": true, "third-party": true, "vendor": true, "testdata": true, "fixtures": true, "__fixtures__": true,
	"dist": true, "build": true, "target": true, "out": true, "__pycache__": true,
	"example": true, "examples": true, "sample": true, "samples": true,
}
