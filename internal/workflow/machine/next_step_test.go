package machine

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// said is a step as tests compare it; users never see it.
func said(s workflow.NextStep) string {
	words := strings.Join(slices.Concat([]string{string(s.Verb)}, s.Runs, s.Program), " ")
	for flag, set := range map[string]bool{" cancel": s.Cancel, " force": s.Force} {
		if set {
			words += flag
		}
	}
	for _, next := range s.Then {
		words += "; " + said(next)
	}
	return s.Text + ": " + words
}

func allSaid(e *workflow.Error) string {
	var lines []string
	for _, step := range e.Next {
		lines = append(lines, said(step))
	}
	return strings.Join(lines, "\n")
}

// checkSteps: a step that no front end can offer is none.
func checkSteps(steps []workflow.NextStep) error {
	for _, s := range steps {
		if err := s.Validate(); err != nil {
			return err
		}
		if strings.Contains(s.Text, "signalbox ") {
			return fmt.Errorf("%q is a line for a shell", s.Text)
		}
		if err := checkSteps(s.Then); err != nil {
			return err
		}
	}
	return nil
}

func TestLinesOfAnOlderVersionAreTakenAsAdvice(t *testing.T) {
	t.Parallel()
	e := workflow.Error{Actions: []string{"free disk space", "then: signalbox resume 3"}}
	e.TakeActions()
	if len(e.Next) != 2 || e.Next[1].Text != "then: signalbox resume 3" || e.Next[1].Verb != "" {
		t.Errorf("they are read as %+v", e.Next)
	}
	e = workflow.Error{Actions: []string{"go on: signalbox resume 3"}, Next: []workflow.NextStep{{Verb: workflow.VerbResume, Runs: []string{"3"}}}}
	if e.TakeActions(); len(e.Next) != 1 || e.Next[0].Verb != workflow.VerbResume {
		t.Errorf("data that is there became %+v", e.Next)
	}
}

// A code that is written out where it is used can differ from the one that is asked for.
func TestReasonCodesAndVerbsAreWrittenInOnePlace(t *testing.T) {
	t.Parallel()
	codes, verbs := constantsOf(t, "../reason.go"), constantsOf(t, "../next_step.go")
	if len(codes) < 50 || len(verbs) != len(workflow.Verbs) {
		t.Fatalf("%d codes and %d of %d verbs: this test looks in the wrong place", len(codes), len(verbs), len(workflow.Verbs))
	}
	for _, dir := range []string{".", "..", "../../engine", "../../perform", "../../place", "../../heal"} {
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range names {
			name := entry.Name()
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "reason.go" {
				continue
			}
			eachText(t, dir+"/"+name, func(text string) {
				if codes[text] {
					t.Errorf("%s/%s writes the code %s out", dir, name, text)
				}
			})
		}
	}
}

// The two cannot share constants, because neither may import the other.
func TestTheAgentsPortHasTheSameCodes(t *testing.T) {
	t.Parallel()
	codes, n := constantsOf(t, "../reason.go"), 0
	eachText(t, "../../agent/failure.go", func(text string) {
		if !strings.HasPrefix(text, "AGENT_") {
			return
		}
		if n++; !codes[text] {
			t.Errorf("a call may end with %s, which is not declared here", text)
		}
	})
	if n < 15 {
		t.Errorf("only %d codes were compared", n)
	}
}

// constantsOf are the texts of a file's constants. Two that are equal fail the test.
func constantsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			for _, value := range spec.(*ast.ValueSpec).Values {
				text := strings.Trim(value.(*ast.BasicLit).Value, `"`)
				if found[text] {
					t.Errorf("%s is declared twice", text)
				}
				found[text] = true
			}
		}
	}
	return found
}

func eachText(t *testing.T, name string, each func(string)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			each(strings.Trim(literal.Value, "\"`"))
		}
		return true
	})
}
