package layering_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

// Each reason code has a row on its page, and no other word has one. The steps that the page says for a stop are those that the code says.
func TestTheReasonsPageSaysWhatTheCodeDoes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := texts(t, "workflow/reason.go")
	said := sayings(t, "workflow", "workflow/machine", "perform", "process", "environment")
	waiting, _, _ := strings.Cut(string(page), "## It tried and gave up")
	seen := map[string]bool{}
	for _, row := range reasonRow.FindAllStringSubmatch(string(page), -1) {
		code, next := row[1], row[2]
		if seen[code] {
			t.Errorf("%s has two rows", code)
		}
		seen[code] = true
		if !slices.Contains(codes, code) {
			t.Errorf("%s is no reason code of workflow/reason.go", code)
		}
		if !strings.Contains(waiting, row[0]) {
			continue
		}
		for _, part := range filledIn.Split(inCode.ReplaceAllString(next, ""), -1) {
			if part = strings.Trim(part, " :"); !strings.Contains(said, strings.TrimPrefix(part, "or ")) {
				t.Errorf("the page says of %s: %q; no next step in the code says so", code, part)
			}
		}
	}
	for _, code := range codes {
		if !seen[code] {
			t.Errorf("%s has no row", code)
		}
	}
	for _, command := range ownCommand.FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc(workflow.Verbs, func(v workflow.Verb) bool {
			line := strings.TrimPrefix(commandline.Quote(commandline.Arguments(workflow.NextStep{Verb: v})), commandline.Program+" ")
			return command[1] == line || strings.HasPrefix(command[1], line+" ")
		}) {
			t.Errorf("the page says `signalbox %s`, which is no step that Signalbox advises", command[1])
		}
	}
}

var (
	reasonRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| [^|]+ \\| ([^|]+) \\|$")
	inCode    = regexp.MustCompile("`[^`]*`")
	// filledIn ends a text of the code: another step begins, or a name that only the run knows.
	filledIn   = regexp.MustCompile(`;|\bmain\b|\bBRANCH\b`)
	ownCommand = regexp.MustCompile("`signalbox ([^`]+)`")
)

// The exit codes of "signalbox --help" are those of the page for programs.
func TestTheDocumentsPageHasEveryExitCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/documents.md")
	if err != nil {
		t.Fatal(err)
	}
	help, err := os.ReadFile("cli/help/signalbox.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range exitCode.FindAllStringSubmatch(string(help), -1) {
		rows = append(rows, "| "+row[1]+" | "+row[2]+" |\n")
	}
	if len(rows) < 10 || !strings.Contains(string(page), "\n\n| code | meaning |\n|---|---|\n"+strings.Join(rows, "")+"\n") {
		t.Errorf("docs/documents.md does not have exactly the rows\n%s", strings.Join(rows, ""))
	}
}

var exitCode = regexp.MustCompile(`(?m)^ +(\d+)  (.*)$`)

// texts are the texts in a file of ours.
func texts(t *testing.T, name string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, text)
		}
		return true
	})
	return found
}

// sayings are all texts of packages, a line each, without those of their tests.
func sayings(t *testing.T, packages ...string) string {
	t.Helper()
	var all []string
	for _, pkg := range packages {
		files, err := fs.Glob(os.DirFS("."), path.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				all = append(all, texts(t, name)...)
			}
		}
	}
	return strings.Join(all, "\n")
}
