// Package machine is the state machine of a run: Decide takes a run, one fact and
// the time, and returns the run after it with the actions that are due. It's the
// only package that moves a run, and only what saves runs may import it; every
// other package reads a run's words from workflow. It is pure: no clock, no
// context, no files, no log.
package machine
