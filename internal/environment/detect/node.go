package detect

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads JSON as npm does: the last of two equal names counts, and bytes may be invalid UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func (s *survey) packageJSON(f *File, text []byte) error {
	var p struct {
		Dependencies    map[string]any `json:"dependencies"`
		DevDependencies map[string]any `json:"devDependencies"`
		Optional        map[string]any `json:"optionalDependencies"`
		Workspaces      any            `json:"workspaces"`
		PackageManager  any            `json:"packageManager"`
		Engines         any            `json:"engines"`
	}
	if err := json.Unmarshal(text, &p, lenient); err != nil {
		return err
	}
	m := s.module(f.Path)
	for _, group := range []map[string]any{p.Dependencies, p.DevDependencies, p.Optional} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			constraint, _ := group[name].(string)
			s.depend(f, "npm", name, constraint)
		}
	}
	m.workspaces = p.Workspaces != nil || s.has(path.Join(m.dir, "pnpm-workspace.yaml"))
	manager, _ := p.PackageManager.(string)
	m.packageManager, m.managerVersion, _ = strings.Cut(manager, "@")
	if engines, isMap := p.Engines.(map[string]any); isMap {
		version, _ := engines["node"].(string)
		s.want(f, map[string]string{Node: version})
	}
	return nil
}

// nodeManagers are recognized by their lock files; the first one found wins. open, the install without a
// lock file, writes none: it would become part of the change.
var nodeManagers = []struct{ name, lock, frozen, open string }{
	{"npm", "package-lock.json", "npm ci", "npm install --no-package-lock"},
	{"npm", "npm-shrinkwrap.json", "npm ci", "npm install --no-package-lock"},
	{"pnpm", "pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm install --no-lockfile"},
	{"yarn", "yarn.lock", "yarn install --frozen-lockfile", "yarn install --no-lockfile"},
}

// nodeInstall returns the command for one folder and the file that decided it.
func (s *survey) nodeInstall(m *module) (command, source string) {
	source = m.manifests["package.json"]
	for _, manager := range nodeManagers {
		if m.packageManager != "" && m.packageManager != manager.name {
			continue
		}
		lock := path.Join(m.dir, manager.lock)
		if !s.locked(lock) {
			if m.packageManager != "" && command == "" {
				command = manager.open
			}
			continue
		}
		// From version 2 on, yarn has other options and begins its lock file in another way.
		i := slices.IndexFunc(s.result.Files, func(f File) bool { return f.Path == lock })
		asked := m.packageManager == "yarn" && m.managerVersion != "" && !strings.HasPrefix(m.managerVersion, "1.")
		if manager.name == "yarn" && (asked || strings.Contains(s.result.Files[i].Content, "\n__metadata:")) {
			return "yarn install --immutable", lock
		}
		return manager.frozen, lock
	}
	if command == "" {
		command = nodeManagers[0].open
	}
	return command, source
}

// locked reports whether a lock file was read.
func (s *survey) locked(name string) bool {
	return slices.ContainsFunc(s.result.Files, func(f File) bool { return f.Path == name && f.Lock && f.SHA256 != "" })
}

// nodeSetUp installs the root and every independent folder. A folder below a root with workspaces is
// independent only if it has its own lock file.
func (s *survey) nodeSetUp() (p plan) {
	var covering []string
	for _, m := range s.modules("package.json") {
		command, source := s.nodeInstall(m)
		locked := source != m.manifests["package.json"]
		if !locked && (m.dependencies[Node] == 0 && !m.workspaces || slices.ContainsFunc(covering, func(dir string) bool { return below(m.dir, dir) })) {
			continue
		}
		if m.workspaces {
			covering = append(covering, m.dir)
		}
		p.commands = append(p.commands, inside(m.dir, command))
		if !s.ignores(m.dir, "node_modules") {
			p.commands = append(p.commands, inside(m.dir, `[ ! -d node_modules ] || echo '*' >node_modules/.gitignore`))
		}
		p.checks = append(p.checks, inside(m.dir, nodeInstalled))
		p.source = append(p.source, source)
	}
	return p
}

// nodeInstalled succeeds if every package that package.json needs is there. "npm ls" would also fail for
// packages that contradict each other and still work.
const nodeInstalled = `node -e 'const fs = require("fs"), p = require("./package.json"); ` +
	`if (!fs.existsSync(".pnp.cjs")) for (const d in {...p.dependencies, ...p.devDependencies}) ` +
	`if (!(p.optionalDependencies || {})[d]) fs.accessSync("node_modules/" + d)'`
