// Package policy judges a recorded change by its paths, modes, sizes and content:
// what no approval admits, and what a person must agree to even where approval is
// automatic. That includes whatever decides what the tests say. It is pure, and it
// refuses to know how far a run has come.
//
// The agent that wrote the change may have followed a stranger's text, so each rule
// assumes intent. Four functions judge, each by facts of its own:
//
//   - Inspect: paths, modes and sizes. It alone can refuse a change.
//   - Judged: the files that decide what the tests say.
//   - Weakened: the tests that were there before.
//   - Flags: secrets and hidden text in what the change adds.
//
// Each returns reasons, one line of English each, such as "it changes .npmrc". A
// run shows them to the person who approves and to the reviewer. No rule trusts what
// the agent says about its change.
package policy
