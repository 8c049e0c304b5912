// Package watch shares one inotify instance among any number of subscriptions to
// folders, and polls for those that the kernel has no watch left for. It tells
// that something may have changed, and never what: a reader looks.
package watch
