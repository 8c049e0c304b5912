package clone

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tools are the programs by which set-ups and tests differ from machine to machine.
var tools = []string{"go", "node", "npm", "yarn", "pnpm", "bun", "deno", "python3", "python", "pip3", "pip", "uv", "poetry", "conda",
	"java", "javac", "mvn", "gradle", "gcc", "g++", "clang", "make", "cmake", "rustc", "cargo", "ruby", "bundle", "php", "composer", "dotnet", "git"}

// Fingerprint implements environment.Environment. A tool is known by where it lies and by the
// size and time of its file: asking each for its version would take seconds. A manager of
// versions that stands in its place hides what it chooses.
func (e *Environment) Fingerprint() string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "clone %s\n%s\n%s %s\n%+v\nincluded %s\n", baseVersion, e.Isolation(), e.Dir(), e.home(), DefaultIdentity, e.included)
	release, _ := os.ReadFile("/etc/os-release") // a system without is told by its tools
	_, _ = fmt.Fprintf(sum, "%d\n%s", len(release), release)
	for _, tool := range tools {
		identify(sum, tool, filepath.SplitList(e.driver.path))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// identify writes down which file a tool is.
func identify(w io.Writer, tool string, folders []string) {
	for _, dir := range folders {
		path := filepath.Join(dir, tool)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		_, _ = fmt.Fprintf(w, "%s %s %s %d %d\n", tool, path, real, info.Size(), info.ModTime().UnixNano())
		return
	}
}
