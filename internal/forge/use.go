package forge

import "time"

// Use is what a driver has asked of its server since it was made.
type Use struct {
	// Calls counts what was sent, by kind: the method and the path without its names and numbers, such as "GET issues/*/comments".
	Calls map[string]int
	// Unchanged are those of Calls that were answered with "not modified". On GitHub they cost nothing.
	Unchanged int
	// Joined were not sent: an equal call was under way, and its answer served both.
	Joined int
	// Budgets are the server's limits as it last reported them, by its own names.
	Budgets map[string]Budget
}

// Budget is how many calls the server still accepts.
type Budget struct {
	Limit, Remaining int
	// Reset is when Remaining is Limit again, by the server's clock.
	Reset time.Time
}

// Metered is implemented by a driver that counts its calls.
type Metered interface {
	Use() Use
}
