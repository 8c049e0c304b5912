// Command sbom writes a software bill of materials of a Go program, as CycloneDX JSON: the modules that Go recorded in it.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Ref     string `json:"bom-ref"`
}

func write(program, document string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read modules of %s: %w", program, err)
	}
	components := []component{{"library", "std", info.GoVersion, "pkg:golang/std@" + info.GoVersion, "pkg:golang/std@" + info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, described("library", m))
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"component": described("application", &info.Main)},
		"components": components,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644)
}

func described(kind string, m *debug.Module) component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return component{kind, m.Path, m.Version, url, url}
}
