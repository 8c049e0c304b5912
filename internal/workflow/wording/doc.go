// Package wording makes words for people: names and lines from outside so that
// they show what is there, and counts and lists as a sentence has them.
package wording
