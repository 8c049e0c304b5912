package store

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// heldToDecode: what is plain is what decode reads, value for value.
func heldToDecode(t *testing.T, data []byte) (isPlain bool) {
	t.Helper()
	status, isPlain := plainStatus(data)
	if !isPlain {
		return false
	}
	want, err := decode[workflow.IssueStatus](data, "")
	if err != nil || !reflect.DeepEqual(status, want) {
		t.Errorf("%q is plain: %+v\nbut decoded it is %+v, %v", data, status, want, err)
	}
	return true
}

func FuzzPlainStatus(f *testing.F) {
	for _, text := range append(hostileSeeds, plainSamples(f)...) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { heldToDecode(t, data) })
}

func plainSamples(t testing.TB) (samples []string) {
	t.Helper()
	for _, status := range []workflow.IssueStatus{
		{Issue: 42, Status: workflow.IssueRunning},
		{Issue: 999999999, Status: workflow.IssueError, Session: "s", ErrorMessage: "失敗 ошибка 🚉\x7f", Timestamp: testStart},
		{Issue: 1, Status: workflow.IssueComplete, Session: "signalbox-issue-1", Timestamp: testStart.Add(-time.Second)},
	} {
		data, err := new(Store).encode(&status, indented)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, string(data))
	}
	return append(samples, "\t{\"timestamp\":\"2024-02-29T23:59:59Z\" ,\r\n\"issue\":7}")
}

func TestWhatWeWriteIsPlainAndNothingNearItIsReadOtherwise(t *testing.T) {
	t.Parallel()
	near := 0
	for _, sample := range plainSamples(t) {
		if !heldToDecode(t, []byte(sample)) {
			t.Errorf("not plain: %s", sample)
		}
		for i := range len(sample) {
			heldToDecode(t, []byte(sample[:i]))
			heldToDecode(t, append([]byte(sample[:i]), sample[i+1:]...))
			for c := range 256 {
				changed := []byte(sample)
				changed[i] = byte(c)
				if heldToDecode(t, changed) {
					near++
				}
			}
		}
	}
	if near == 0 {
		t.Error("nothing near a sample was plain")
	}
}

func TestWhatIsNotPlainIsLeftToDecode(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", "null", `{"issue":1}x`, `{"issue":1,}`, `{"issue":1,"issue":1}`, `{"Issue":1}`, `{"x":1}`, `{"issue":null}`,
		`{"issue":01}`, `{"issue":1.0}`, `{"issue":1e1}`, `{"issue":-1}`, `{"issue":12345678901234567890}`, `{"issue":"1"}`, `{"session":"\u0041"}`,
		"{\"session\":\"\n\"}", "{\"session\":\"\xff\"}", `{"status":"sleeping"}`, `{"status":""}`, `{"timestamp":"2026-01-01T00:00:00+00:00"}`,
		`{"timestamp":"2026-01-01T24:00:00Z"}`, `{"timestamp":"2026-02-30T00:00:00Z"}`, `{"timestamp":"2026-01-01t00:00:00Z"}`, "[" + string(bytes.Repeat([]byte(" "), 9)) + "]"} {
		if _, isPlain := plainStatus([]byte(text)); isPlain {
			t.Errorf("%q is plain", text)
		}
		heldToDecode(t, []byte(text))
	}
}

func TestAListingSaysOfEveryFileWhatReadingItAloneSays(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	texts := append(plainSamples(t), hostileSeeds...)
	texts = append(texts, "", `{"issue":1}x`, `{"issue":5,"status":"error","error_message":"a\n\"b\"","x":{"y":1}}`, "{\"session\":\"\xff\"}",
		strings.Repeat(" ", maxDocument+1), `{"issue":8,"status":"running","Session":"s"}`, `{"issue":9,"status":"sleeping"}`)
	for i := range 3 * readerShare { // so that readers share them out
		text := texts[min(i, len(texts)-1)]
		if i >= len(texts) {
			text = strings.Replace(texts[0], "42", strconv.Itoa(i+1), 1)
		}
		write(t, s, fmt.Sprintf("%s/%d.json", statusDir, i+1), text)
	}
	all, err := s.IssueStatuses(t.Context())
	if err != nil || len(all) != 3*readerShare {
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
