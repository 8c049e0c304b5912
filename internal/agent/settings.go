package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Complete returns s checked, with the usual program if it names none. further are permissions that only some drivers support.
func (s Settings) Complete(usual string, further ...Permissions) (Settings, error) {
	if s.Program == "" {
		s.Program = usual
	}
	if err := s.validate(further); err != nil {
		return Settings{}, fmt.Errorf("configure agent %q: %w", s.Name, err)
	}
	return s, nil
}

func (s Settings) validate(further []Permissions) error {
	switch {
	case s.Name == "":
		return errors.New("it needs a name")
	case strings.Contains(s.Program, "/") && !filepath.IsAbs(s.Program):
		return fmt.Errorf("program %q is neither absolute nor a plain name", s.Program)
	case s.Permissions == Ask && !slices.Contains(further, Ask):
		return fmt.Errorf("permissions %q: %w", Ask, ErrCannotAsk)
	case !slices.Contains([]Permissions{Everything, Edits, ReadOnly, Ask}, s.Permissions):
		return fmt.Errorf("there are no permissions %q", s.Permissions)
	case strings.HasPrefix(s.Model, "-"):
		return errors.New("a model's name does not begin with a dash")
	}
	return nil
}
