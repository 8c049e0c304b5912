package store

import (
	"context"
	"testing"
	"time"
)

func TestWatchSeesAReplacedFileAndNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	w, run := createRun(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stage, err := s.Watch(ctx, RunDir(testRef)+"/stage.json")
	if err != nil {
		t.Fatal(err)
	}
	report, err := s.Watch(ctx, RunDir(testRef)+"/report.md")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		save(t, w, &run)
		if _, ok := <-stage; !ok {
			t.Fatal("the replaced stage was not seen")
		}
	}
	if _, err := s.WriteReport(ctx, testRef, []byte("# Done\n")); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-report; !ok {
		t.Fatal("the report was not seen")
	}
	select {
	case <-report:
		t.Fatal("one change of the report was told twice, or another file's change")
	default:
	}
	cancel()
	for range stage {
	}
}
