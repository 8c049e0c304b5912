package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAProgramsModulesAreNamed(t *testing.T) {
	t.Parallel()
	document := filepath.Join(t.TempDir(), "sbom.json")
	if err := write(os.Args[0], document); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil || !strings.Contains(string(text), `"purl": "pkg:golang/std@go1.`) {
		t.Errorf("got %s, %v", text, err)
	}
	if err := write("/bin/sh", document); err == nil {
		t.Error("a program that Go did not build has modules")
	}
}
