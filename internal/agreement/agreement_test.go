package agreement_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/agreement"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// book is that of a project whose user has a state folder of their own.
func book(t *testing.T, project string) (b agreement.Book, state string) {
	t.Helper()
	state = t.TempDir()
	return opened(t, project, state), state
}

func opened(t *testing.T, project, state string) agreement.Book {
	t.Helper()
	b, err := agreement.Open(project, variables("XDG_STATE_HOME", state))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func agree(t *testing.T, b agreement.Book, kind agreement.Kind, fingerprint string) {
	t.Helper()
	if err := b.Agree(kind, fingerprint, "asked", []string{"one"}, now); err != nil {
		t.Fatal(err)
	}
}

func agreed(t *testing.T, b agreement.Book, kind agreement.Kind, fingerprint string) bool {
	t.Helper()
	yes, err := b.Agreed(kind, fingerprint)
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

func TestAnAgreementHoldsForItsKindContentAndProjectAlone(t *testing.T) {
	t.Parallel()
	b, state := book(t, "/work/one")
	x, y := agreement.Fingerprint("x"), agreement.Fingerprint("y")
	if agreed(t, b, agreement.SetUp, x) {
		t.Fatal("agreed before anyone did")
	}
	agree(t, b, agreement.SetUp, x)
	agree(t, b, agreement.SetUp, x)
	if !agreed(t, opened(t, "/work/one", state), agreement.SetUp, x) {
		t.Error("forgotten")
	}
	for name, other := range map[string]bool{
		"content": agreed(t, b, agreement.SetUp, y),
		"kind":    agreed(t, b, agreement.Configuration, x),
		"project": agreed(t, opened(t, "/work/two", state), agreement.SetUp, x),
	} {
		if other {
			t.Errorf("holds for another %s", name)
		}
	}
}

func TestAnAgreementCanBeListedAndWithdrawn(t *testing.T) {
	t.Parallel()
	b, _ := book(t, "/work/one")
	x := agreement.Fingerprint("x")
	agree(t, b, agreement.SetUp, x)
	agree(t, b, agreement.Configuration, x)
	list, err := b.List(agreement.SetUp)
	if err != nil || len(list) != 1 || list[0].Fingerprint != x || list[0].Items[0] != "one" || !list[0].AgreedAt.Equal(now) {
		t.Errorf("list: %+v, %v", list, err)
	}
	if n, err := b.Withdraw(agreement.SetUp); n != 1 || err != nil {
		t.Errorf("withdrew %d, %v", n, err)
	}
	if agreed(t, b, agreement.SetUp, x) || !agreed(t, b, agreement.Configuration, x) {
		t.Error("withdrawing one kind left it or took another")
	}
}

// record is the only file that b wrote.
func record(t *testing.T, state string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "signalbox", "trust", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files: %q, %v", found, err)
	}
	return found[0]
}

func TestRecordsAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	b, state := book(t, "/work/one")
	agree(t, b, agreement.SetUp, agreement.Fingerprint("x"))
	for path, want := range map[string]os.FileMode{record(t, state): 0o600, filepath.Dir(record(t, state)): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestARecordThatOthersCanWriteIsNoAgreement(t *testing.T) {
	t.Parallel()
	x := agreement.Fingerprint("x")
	for name, spoil := range map[string]func(t *testing.T, path string){
		"file that others may write":   func(t *testing.T, path string) { must(t, os.Chmod(path, 0o666)) },
		"folder that others may write": func(t *testing.T, path string) { must(t, os.Chmod(filepath.Dir(path), 0o777)) },
		"link": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".elsewhere"))
			must(t, os.Symlink(path+".elsewhere", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, state := book(t, "/work/one")
			agree(t, b, agreement.SetUp, x)
			spoil(t, record(t, state))
			if yes, err := b.Agreed(agreement.SetUp, x); yes || err == nil {
				t.Errorf("agreed %v, %v", yes, err)
			}
		})
	}
}

func TestABrokenOrForeignRecordIsAskedAgain(t *testing.T) {
	t.Parallel()
	x := agreement.Fingerprint("x")
	for name, edit := range map[string]func(a *agreement.Agreement) string{
		"truncated":         func(*agreement.Agreement) string { return `{"version": 1` },
		"empty":             func(*agreement.Agreement) string { return "" },
		"another project's": func(a *agreement.Agreement) string { a.Project = "/work/two"; return "" },
		"another content's": func(a *agreement.Agreement) string { a.Fingerprint = agreement.Fingerprint("y"); return "" },
		"a later version's": func(a *agreement.Agreement) string { a.Version = 2; return "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, state := book(t, "/work/one")
			agree(t, b, agreement.SetUp, x)
			list, err := b.List(agreement.SetUp)
			must(t, err)
			text := edit(&list[0])
			if text == "" && name != "empty" {
				data, err := json.Marshal(list[0])
				must(t, err)
				text = string(data)
			}
			must(t, os.WriteFile(record(t, state), []byte(text), 0o600))
			if agreed(t, b, agreement.SetUp, x) {
				t.Error("agreed")
			}
			agree(t, b, agreement.SetUp, x)
			if !agreed(t, b, agreement.SetUp, x) {
				t.Error("a new agreement does not take its place")
			}
		})
	}
}

func TestTheStateFolderIsNeverInsideTheProject(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(home, link))
	for name, getenv := range map[string]func(string) string{
		"HOME is the project":         variables("HOME", home),
		"state folder in the project": variables("HOME", "/root", "XDG_STATE_HOME", filepath.Join(home, "state")),
		"through a link":              variables("HOME", link),
		"no HOME":                     variables(),
		"relative":                    variables("HOME", "here", "XDG_STATE_HOME", "state"),
	} {
		if _, err := agreement.Open(home, getenv); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := agreement.Open(home, variables("HOME", home+"x", "XDG_STATE_HOME", "relative")); err != nil {
		t.Errorf("a relative XDG_STATE_HOME counts: %v", err)
	}
}

func TestAnAgreementThatCannotBeRecordedNamesItsFolder(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	must(t, os.WriteFile(state, nil, 0o600)) // a folder without the right to write wouldn't stop root
	book, err := agreement.Open(t.TempDir(), variables("XDG_STATE_HOME", state))
	must(t, err)
	err = book.Agree(agreement.SetUp, agreement.Fingerprint("x"), "approved", nil, time.Now())
	if err == nil || !strings.Contains(err.Error(), state+"/signalbox/trust") || !strings.Contains(err.Error(), "set XDG_STATE_HOME to a folder where you can") {
		t.Errorf("says %v", err)
	}
}

func TestOnlyFingerprintsAreRecorded(t *testing.T) {
	t.Parallel()
	b, _ := book(t, "/work/one")
	for _, wrong := range []string{"", "../../x", strings.Repeat("a", 63), "x" + agreement.Fingerprint("x")[1:]} {
		if err := b.Agree(agreement.SetUp, wrong, "asked", nil, now); err == nil {
			t.Errorf("%q: recorded", wrong)
		}
	}
}

func TestManyAgreeAtOnce(t *testing.T) {
	t.Parallel()
	b, _ := book(t, "/work/one")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := b.Agree(agreement.SetUp, agreement.Fingerprint("x"), "asked", nil, now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !agreed(t, b, agreement.SetUp, agreement.Fingerprint("x")) {
		t.Error("not agreed")
	}
}

func TestAFingerprintKnowsWhereItsPartsEnd(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{nil, {""}, {"ab"}, {"a", "b"}, {"b", "a"}, {"a\nb"}, {"", "ab"}} {
		f := agreement.Fingerprint(parts...)
		if before, twice := seen[f]; twice {
			t.Errorf("%q and %q are one", before, parts)
		}
		seen[f] = parts
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
