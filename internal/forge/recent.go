package forge

import (
	"context"
	"time"
)

// recentKey is where a context has how old an answer may be.
type recentKey struct{}

// Recent lets reads take an answer that the server gave or confirmed at most age ago, to any process with the same credential. It is for looks that
// are repeated anyway, at what rarely changes, and that are made again before anything depends on them.
func Recent(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(ctx, recentKey{}, age)
}

// RecentEnough returns how old an answer may be; 0 wants the server asked.
func RecentEnough(ctx context.Context) time.Duration {
	age, _ := ctx.Value(recentKey{}).(time.Duration)
	return age
}
