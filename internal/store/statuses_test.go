package store

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/store/strict"
)

func TestAListingSaysOfEveryFileWhatReadingItAloneSays(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	const sample = `{"issue": 1, "status": "running", "timestamp": "2026-11-20T10:11:12Z"}`
	const files = 100 // so that readers share them
	texts := append([]string{"", `{"issue":2}x`, `{"issue":3,"status":"error","error_message":"a\n\"b\"","x":{"y":1}}`, "{\"session\":\"\xff\"}",
		strings.Repeat(" ", strict.MaxSize+1), `{"issue":6,"status":"running","Session":"s"}`, `{"issue":7,"status":"sleeping"}`}, hostileSeeds...)
	for i := range files {
		text := strings.Replace(sample, "1", strconv.Itoa(i+1), 1)
		if i < len(texts) {
			text = texts[i]
		}
		write(t, s, fmt.Sprintf("%s/%d.json", statusDir, i+1), text)
	}
	for _, other := range []string{"0.json", "07.json", "+8.json", "9.json.tmp", "ten.json", "11"} {
		write(t, s, statusDir+"/"+other, sample)
	}
	all, err := s.IssueStatuses(t.Context())
	if err != nil || len(all) != files {
		t.Fatalf("%d listed, %v", len(all), err)
	}
	sound := 0
	for i, entry := range all {
		status, err := s.IssueStatus(i + 1).Load(t.Context())
		if entry.Issue != i+1 || !reflect.DeepEqual(entry.Status, status) || fmt.Sprint(entry.Err) != fmt.Sprint(err) {
			t.Errorf("issue %d is listed as %+v, %v; read alone it is %+v, %v", i+1, entry.Status, entry.Err, status, err)
		}
		if err == nil {
			sound++
		}
	}
	if sound < 2 || sound == len(all) {
		t.Errorf("%d of %d are sound", sound, len(all))
	}
}
