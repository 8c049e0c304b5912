package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// readerShare is how many files a reader takes at a time.
const readerShare = 64

// share has every number below n read, by as many readers as there are
// processors. A reader gives the buffer that it leaves to its next call.
func share(ctx context.Context, n int, read func(i int, buffer []byte) []byte) {
	var readers sync.WaitGroup
	var taken atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		readers.Go(func() {
			var buffer []byte
			for ctx.Err() == nil {
				end := int(taken.Add(readerShare))
				begin := end - readerShare
				if begin >= n {
					return
				}
				for i := begin; i < min(end, n); i++ {
					buffer = read(i, buffer)
				}
			}
		})
	}
	readers.Wait()
}
