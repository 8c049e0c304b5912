package clone

import (
	"context"
	"os"

	"signalbox/internal/environment/clone/overlay"
)

// tryOverlays reports how overlays can be mounted here, by doing it: that takes root or namespaces
// of one's own, a file system which keeps their marks, and a kernel that allows it. What a crash
// leaves of the attempt goes with the environment.
func (e *Environment) tryOverlays(ctx context.Context) Way {
	if overlay.RemoveTrial(e.layout.trial()) != nil {
		return Copy
	}
	defer func() { _ = overlay.RemoveTrial(e.layout.trial()) }()
	o, err := overlay.Trial(e.layout.trial())
	switch {
	case err != nil:
	case os.Geteuid() == 0:
		if overlay.Make(o) == nil && overlay.Renames(o.Target) == nil && overlay.Replaces(o.Target) == nil {
			return Overlay
		}
	case !e.driver.config.OnHost:
		if e.driver.tryPrivate(ctx, o) == nil {
			return Private
		}
	}
	return Copy
}
