// Package policy judges a recorded change by its paths, modes, sizes and content:
// what no approval admits, and what a person must agree to even where approval is
// automatic. That includes whatever decides what the tests say. It is pure, and it
// refuses to know how far a run has come.
package policy
