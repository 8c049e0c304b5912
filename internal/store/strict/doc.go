// Package strict reads JSON documents strictly: it refuses whatever two readers
// could understand differently, and says by line and column where. It knows JSON
// and Go types, and no file.
package strict
