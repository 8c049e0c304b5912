package layering_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// allowed is the row of a package.
func allowed(pkg string) (row []string, ok bool) {
	if row, ok = packages[pkg]; ok {
		return row, true
	}
	row, ok = packages[path.Dir(pkg)+"/*"]
	return row, ok
}

// forbids names the rule that an import breaks; empty when it breaks none.
func (s source) forbids(module, name string) string {
	other, ours := strings.CutPrefix(name, module+"/internal/")
	if !ours {
		if isPure(s.pkg) && !s.test && !slices.Contains(pure, name) {
			return s.pkg + " depends on its arguments alone: only " + strings.Join(pure, ", ")
		}
		return ""
	}
	if isFace(s.pkg) && isFace(other) && topOf(s.pkg) != topOf(other) && s.pkg != "cli/"+topOf(other) { // whose command starts the other
		return "faces never import each other"
	}
	if s.test || other == s.pkg || other == "lazy" {
		return ""
	}
	if isSuite(other) && !isSuite(s.pkg) {
		return "a conformance suite is for tests"
	}
	row, _ := allowed(s.pkg)
	if slices.Contains(row, other) {
		return ""
	}
	if isDriver(other) && topOf(s.pkg) != "wire" && !strings.HasPrefix(s.pkg, other+"/") && !strings.HasPrefix(s.pkg, "cmd/") {
		return "drivers are named by wire only"
	}
	if slices.Contains(row, "*") {
		return ""
	}
	return fmt.Sprintf("the layer table allows %s only %v", s.pkg, row)
}

// isPure: judgement, and the documents that are derived from it.
func isPure(pkg string) bool {
	top, _, _ := strings.Cut(pkg, "/")
	return top == "workflow" || top == "health" || top == "registry"
}

func isFace(pkg string) bool { return slices.Contains(faces, topOf(pkg)) }

func topOf(pkg string) string {
	top, _, _ := strings.Cut(pkg, "/")
	return top
}

func isDriver(pkg string) bool {
	port, _, nested := strings.Cut(pkg, "/")
	return nested && slices.Contains(ports, port) && !isSuite(pkg)
}

func isSuite(pkg string) bool {
	port, suite, _ := strings.Cut(pkg, "/")
	return slices.Contains(ports, port) && suite == port+"test" || pkg == "forge/hostedtest" // joins a driver with all that the suite needs
}

// calls finds what makes an answer depend on when or under whom it is asked.
// Naming time.Now as the clock that is used when none is injected is no call.
func (s source) calls() (found []string) {
	if s.test || isSuite(s.pkg) {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if rule := forbiddenCall(s.name, s.pkg, s.selected(call.Fun)); rule != "" {
				found = append(found, fmt.Sprintf("calls %s: %s", s.selected(call.Fun), rule))
			}
		}
		if node, ok := n.(ast.Expr); ok && s.pkg == "workflow" && slices.Contains(readsClock, s.selected(node)) {
			found = append(found, fmt.Sprintf("names %s: workflow is told the time", s.selected(node)))
		}
		return true
	})
	return found
}

var readsClock = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
	"time.NewTimer", "time.NewTicker", "time.Tick"}

// initProgram is the one program that is not below cmd: it has to be in whatever program uses the
// package, so its main is an init. It makes a context as any main does, and looks at no clock.
const initProgram = "internal/environment/clone/overlay/program.go"

func forbiddenCall(name, pkg, function string) string {
	inCommand := strings.HasPrefix(pkg, "cmd/")
	switch function {
	case "context.Background", "context.TODO":
		if !inCommand && name != initProgram {
			return "a context comes from the caller; only main makes one"
		}
	case "time.Now", "time.Since", "time.Until":
		if !inCommand && !slices.Contains(clocks, pkg) {
			return "the clock is injected"
		}
	}
	return ""
}

// selected is package path and name of an expression like time.Now, else empty.
func (s source) selected(e ast.Expr) string {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return s.imported(pkg.Name) + "." + selector.Sel.Name
}

// imported is the path of the package that a name stands for in this file.
func (s source) imported(name string) string {
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(p) == name {
			return p
		}
	}
	return ""
}
