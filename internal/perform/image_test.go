package perform

import (
	"context"
	"slices"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/workflow"
)

// images is a driver that notes the image of each environment.
type images struct {
	environment.Driver
	asked []string
}

type imageless struct{ environment.Environment }

func (d *images) Make(_ context.Context, s environment.Spec) (environment.Environment, error) {
	d.asked = append(d.asked, s.Image)
	return imageless{}, nil
}

func (*images) Attach(context.Context, environment.Spec) (environment.Environment, error) {
	return imageless{}, nil
}

func TestARunUsesTheImageThatItsPlanChose(t *testing.T) {
	t.Parallel()
	driver := &images{}
	x := &execution{Performer: &Performer{Config: Config{Environments: driver}}, cache: &cache{}}
	x.run.Details.Detection = &workflow.Detection{Environment: "python"}
	x.run.Details.Settings.Images = map[string]string{"python": "python:3.11", "node": "node:22"}
	for _, chosen := range []*workflow.SetUp{nil, nil, {Name: "node"}, {Name: "node"}} {
		x.run.Details.SetUp = chosen
		if _, err := x.environment(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"python:3.11", "node:22"}; !slices.Equal(driver.asked, want) {
		t.Errorf("environments were made of %q, want %q", driver.asked, want)
	}
}
