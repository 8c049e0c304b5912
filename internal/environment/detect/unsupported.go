package detect

import (
	"maps"
	"path"
	"slices"
)

// unsupported are the manifests of kinds without a setup here. Skipping them silently would look as if nothing were needed.
var unsupported = map[string]string{
	"Cargo.toml": "Rust", "Gemfile": "Ruby", "composer.json": "PHP", "mix.exs": "Elixir", "pubspec.yaml": "Dart", "Package.swift": "Swift",
	"build.sbt": "Scala", "stack.yaml": "Haskell", "deno.json": "Deno", "bun.lock": "Bun", "bun.lockb": "Bun",
	"CMakeLists.txt": "CMake", "meson.build": "Meson",
}

// noteUnsupported names the outermost manifest of each such kind, unless the project's own
// description is followed.
func (s *survey) noteUnsupported() {
	if _, described := s.followed(); described {
		return
	}
	outermost := map[string]string{}
	for _, name := range s.names {
		kind := unsupported[path.Base(name)]
		if kind == "" && path.Ext(name) == ".csproj" {
			kind = ".NET"
		}
		if kind == "" || passedOver(name) || !plain(name) {
			continue
		}
		if before := outermost[kind]; before == "" || depth(name) < depth(before) {
			outermost[kind] = name
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(outermost)) {
		s.note("%s speaks for %s, of which no set-up is known: write it into environment.set_up", outermost[kind], kind)
	}
}
