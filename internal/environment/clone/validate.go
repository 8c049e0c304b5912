package clone

import "signalbox/internal/environment"

// Validate refuses what Make and Remove would refuse, for a driver that does something else first.
func Validate(s environment.Spec) error { return validate(s) }
