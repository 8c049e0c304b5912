package detect

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/lazy"
)

var from = lazy.Pattern(`(?mi)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$`)

// dockerfile records the images that it builds on, except its own stages.
func (s *survey) dockerfile(f *File, text []byte) error {
	stages := map[string]bool{"scratch": true}
	for _, match := range from().FindAllSubmatch(text, maxDependencies) {
		if image := string(match[1]); !stages[strings.ToLower(image)] {
			s.dependImage(f, image)
		}
		stages[strings.ToLower(string(match[2]))] = true
	}
	return nil
}

type composeService struct {
	Image string `yaml:"image"`
}

func (s *survey) compose(f *File, text []byte) error {
	var p struct {
		Services map[string]composeService `yaml:"services"`
	}
	if err := yaml.Unmarshal(text, &p); err != nil {
		return err
	}
	if len(p.Services) == 0 {
		return errors.New("has no services")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		s.dependImage(f, p.Services[name].Image)
	}
	return nil
}

// dependImage records an image, host:5000/name:tag@digest, with its tag and digest as the constraint.
func (s *survey) dependImage(f *File, image string) {
	name, digest, _ := strings.Cut(image, "@")
	tag := digest
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, tag = name[:i], strings.Trim(name[i+1:]+"@"+digest, "@")
	}
	s.depend(f, "docker", name, tag)
}
