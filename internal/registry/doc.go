// Package registry owns the two documents that other programs read about an
// issue's work: environments.json, with the operations on its entries, and the
// issue's status below .worktrees/.status. For a run both are projections,
// derived from the run and never kept by hand. The package is pure: it reads no
// file and no clock.
package registry
