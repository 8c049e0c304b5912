package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"signalbox/internal/config"
)

func TestTheHomeFolderIsFoundInPathsAndValues(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "environment:\n  read: [~/go/pkg/mod, /srv/~/x]\n  variables: [GOMODCACHE=~/go/pkg/mod, GOPRIVATE, 'A=b=~/c']\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(path, func(name string) string { return map[string]string{"HOME": "/home/ada"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/home/ada/go/pkg/mod", "/srv/~/x"}; !slices.Equal(c.Environment.Read, want) {
		t.Errorf("read %q, want %q", c.Environment.Read, want)
	}
	if want := []string{"GOMODCACHE=/home/ada/go/pkg/mod", "GOPRIVATE", "A=b=~/c"}; !slices.Equal(c.Environment.Variables, want) {
		t.Errorf("variables %q, want %q", c.Environment.Variables, want)
	}
}
func TestASizeIsReadWithItsUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "512": 512, "4K": 4 << 10, "20G": 20 << 30, "1GB": 1 << 30, "-1": -1, "2X": -1, "9999999T": -1} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("environment: {cache: "+text+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := config.Load(path, func(string) string { return "" })
		if (err != nil) != (want < 0) || err == nil && int64(c.Environment.Cache) != want {
			t.Errorf("%s: %d, %v", text, c.Environment.Cache, err)
		}
	}
}
