package detect

import (
	"maps"
	"slices"
)

// The kinds of environments that Signalbox knows how to set up.
const (
	Python    = "python"
	Miniforge = "miniforge"
	Node      = "node"
	Java      = "java"
	Go        = "go"
)

// ok is the output of all our own verifications.
const ok = "OK"

// Environment is one kind of environment to choose from.
type Environment struct {
	Name string `json:"name"`
	// SetUp and Verification apply if the environment is chosen and no file says more.
	SetUp        []string       `json:"setup_commands,omitempty"`
	Verification []Verification `json:"verification,omitempty"`
	// Image is the image that its containers start from.
	Image string `json:"image,omitempty"`
}

// Catalogue returns the default environments with the configuration's images by name. A name that is not among
// the defaults is a kind of its own.
func Catalogue(images map[string]string) []Environment {
	all := []Environment{
		{Name: Python, Image: "python:3.11", SetUp: []string{makeVenv, enterVenv}, Verification: verified(venvEntered)},
		{Name: Miniforge, Image: "condaforge/miniforge3", Verification: verified(`conda --version >/dev/null && echo OK`)},
		{Name: Node, Image: "node:22", Verification: verified(`node --version >/dev/null && echo OK`)},
		{Name: Java, Image: "maven:3-eclipse-temurin-21", Verification: verified(`java -version 2>/dev/null && echo OK`)},
		{Name: Go, Image: "golang:1.26", Verification: verified(`go version >/dev/null && echo OK`)},
	}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		i := slices.IndexFunc(all, func(e Environment) bool { return e.Name == name })
		if i < 0 {
			all = append(all, Environment{Name: name, Image: images[name]})
			continue
		}
		all[i].Image = images[name]
	}
	return all
}

func verified(commands ...string) (all []Verification) {
	for _, command := range commands {
		all = append(all, Verification{Command: command, Expected: ok})
	}
	return all
}
