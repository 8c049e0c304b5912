package detect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// wish is a tool's version that one file asks for.
type wish struct{ kind, tool, version string }

// exactVersion matches a version, or the beginning of one: 22, v22.1.0, 3.12.*, ==3.12, temurin-21.0.2+13.
// Ranges don't count: the installed version may well be in the range.
var exactVersion = lazy.Pattern(`^(?:==?|v|(?:temurin|openjdk|zulu|corretto|liberica|graalvm|adoptopenjdk|semeru)-)?\s*(\d{1,4}(?:\.\d{1,6}){0,3})(?:\.[x*])?(?:[+][\w.]+)?$`)

var toolNames = map[string]string{
	"nodejs": Node, "node": Node, "golang": Go, "go": Go, "python": Python, "java": Java, "pnpm": "pnpm", "yarn": "yarn", "npm": "npm",
	"maven": "maven", "gradle": "gradle", "conda": "conda", "miniconda": "conda", "poetry": "poetry", "uv": "uv", "ruby": "ruby", "rust": "rust",
}

// want records the versions that a file asks for, and returns the ones that it understands.
func (s *survey) want(f *File, versions map[string]string) map[string]string {
	understood := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		tool := toolNames[name]
		match := exactVersion().FindStringSubmatch(strings.TrimSpace(versions[name]))
		if tool == "" || match == nil {
			continue
		}
		understood[tool] = match[1]
		s.wishes = append(s.wishes, wish{f.Kind, tool, match[1]})
	}
	return understood
}

// collectVersions keeps one version of each tool: a version file wins over a manifest, and the root over
// its folders.
func (s *survey) collectVersions() {
	slices.SortStableFunc(s.wishes, func(a, b wish) int { return cmp.Compare(rank(a.kind), rank(b.kind)) })
	for _, w := range s.wishes {
		if s.result.Versions == nil {
			s.result.Versions = map[string]string{}
		}
		if _, settled := s.result.Versions[w.tool]; !settled {
			s.result.Versions[w.tool] = w.version
		}
	}
}
