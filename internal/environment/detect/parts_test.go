package detect_test

import (
	"slices"
	"testing"

	"signalbox/internal/environment/detect"
)

func TestEveryOtherEnvironmentHasItsOwnSetup(t *testing.T) {
	t.Parallel()
	r := tree{"package.json": `{"dependencies": {"a": "1", "b": "1"}}`, "go.mod": "module m\n\nrequire example.org/x v1.0.0\n"}.look(t, "")
	if r.Environment != detect.Node || len(r.Defaults) != len(detect.Catalogue(nil))-1 {
		t.Fatalf("chose %s and has %+v", r.Environment, r.Defaults)
	}
	for _, d := range r.Defaults {
		if len(d.Verification) == 0 {
			t.Errorf("%s is not verified", d.Environment)
		}
		if d.Environment == detect.Go && !slices.Contains(d.SetUp, "go mod download") {
			t.Errorf("go is set up by %q", d.SetUp)
		}
		if d.Environment == detect.Java && len(d.SetUp) > 0 {
			t.Errorf("java, of which nothing is there, is set up by %q", d.SetUp)
		}
	}
}
