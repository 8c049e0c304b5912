package runner

import (
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/workflow"
)

func TestTestsAreCountedInTheirLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, content string
		want          workflow.TestCount
	}{
		{"a/parse_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", f)\n\tt.Error(1)\n}\n\n// func TestOld(t *testing.T) {}\nfunc helper() {}\n", workflow.TestCount{Cases: 2, Checks: 1}},
		{"a/parse_test.go", "//go:build never\n\n// t.Skip() is for others\nfunc TestA(t *testing.T) { t.Skip(); assert.Equal(t, 1, 2) }\n", workflow.TestCount{Cases: 1, Skips: 2, Checks: 1}},
		{"tests/test_a.py", "@pytest.mark.skip\ndef test_a():\n    assert 1\n\nclass T:\n    async def test_b(self):\n        self.assertEqual(1, 1)\n    # def test_c(self):\n", workflow.TestCount{Cases: 2, Skips: 1, Checks: 2}},
		{"src/a.test.ts", "describe('x', () => {\n  it('a', () => { expect(1).toBe(1) })\n  it.each`x`('b', f)\n  test.skip('c', f)\n  // it('d', f)\n})\n", workflow.TestCount{Cases: 3, Skips: 1, Checks: 1}},
		{"src/test/java/AThing.java", "@Test void a() { assertEquals(1, 1); }\n@Disabled @ParameterizedTest void b() {}\n", workflow.TestCount{Cases: 2, Skips: 1, Checks: 1}},
		{"src/lib.rs", "#[test]\nfn a() { assert_eq!(1, 1); }\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n", workflow.TestCount{Cases: 2, Skips: 1, Checks: 1}},
		{"spec/a_spec.rb", "it 'a' do\n  expect(1).to eq 1\nend\n  xit 'b' do\n", workflow.TestCount{Cases: 1, Skips: 1, Checks: 1}},
		{"tests/a.sh", "# grep -q x y\ngrep -q a b\ntest -e c\n", workflow.TestCount{Checks: 2}},
	} {
		l := languageOf(c.file)
		if l == nil {
			t.Errorf("%s is no file of tests", c.file)
			continue
		}
		if got, empty := l.count([]byte(c.content)); got != c.want || empty {
			t.Errorf("%s: %+v, empty %v, want %+v", c.file, got, empty, c.want)
		}
	}
	for _, name := range []string{"main.go", "contest.py", "src/index.ts", "Latest.java", "requests/1.md", "test.txt"} {
		if languageOf(name) != nil {
			t.Errorf("%s is a file of tests", name)
		}
	}
}

func TestAFileOfTestsThatOnlyMovesIsNotGone(t *testing.T) {
	t.Parallel()
	contents := map[string][]byte{"old": []byte("func TestA(t *testing.T) { t.Error(1) }\n"), "empty": []byte("// nothing\n"), "code": []byte("fn a() { assert!(true) }")}
	change := func(path, old, id, mode string) git.Change {
		return git.Change{Path: path, OldID: old, NewID: id, OldMode: git.Regular, NewMode: mode}
	}
	if _, ok := testFile(change("a_test.go", "old", "", git.Absent), contents, true); ok {
		t.Error("a moved file counts as gone")
	}
	if f, ok := testFile(change("a_test.go", "old", "", git.Absent), contents, false); !ok || !f.Gone {
		t.Errorf("a removed file: %+v, %v", f, ok)
	}
	if f, ok := testFile(change("a_test.go", "old", "link", git.Symlink), contents, false); !ok || !f.Gone {
		t.Errorf("a link in its place: %+v, %v", f, ok)
	}
	if f, ok := testFile(change("a_test.go", "old", "empty", git.Regular), contents, false); !ok || !f.Emptied {
		t.Errorf("an emptied file: %+v, %v", f, ok)
	}
	if _, ok := testFile(change("src/lib.rs", "code", "empty", git.Regular), contents, false); ok {
		t.Error("a file of Rust without a test counts as one of tests")
	}
}
