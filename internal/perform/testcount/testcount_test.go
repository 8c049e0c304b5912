package testcount

import (
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/workflow/policy"
)

func TestTestsAreCountedInTheirLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, content string
		want          policy.TestCount
	}{
		{"a/parse_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", f)\n\tt.Error(1)\n}\n\n// func TestOld(t *testing.T) {}\nfunc helper() {}\n", policy.TestCount{Cases: 2, Checks: 1}},
		{"a/parse_test.go", "//go:build never\n\n// t.Skip() is for others\nfunc TestA(t *testing.T) { t.Skip(); assert.Equal(t, 1, 2) }\n", policy.TestCount{Cases: 1, Skips: 2, Checks: 1}},
		{"tests/test_a.py", "@pytest.mark.skip\ndef test_a():\n    assert 1\n\nclass T:\n    async def test_b(self):\n        self.assertEqual(1, 1)\n    # def test_c(self):\n", policy.TestCount{Cases: 2, Skips: 1, Checks: 2}},
		{"src/a.test.ts", "describe('x', () => {\n  it('a', () => { expect(1).toBe(1) })\n  it.each`x`('b', f)\n  test.skip('c', f)\n  // it('d', f)\n})\n", policy.TestCount{Cases: 3, Skips: 1, Checks: 1}},
		{"src/test/java/AThing.java", "@Test void a() { assertEquals(1, 1); }\n@Disabled @ParameterizedTest void b() {}\n", policy.TestCount{Cases: 2, Skips: 1, Checks: 1}},
		{"src/lib.rs", "#[test]\nfn a() { assert_eq!(1, 1); }\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n", policy.TestCount{Cases: 2, Skips: 1, Checks: 1}},
		{"spec/a_spec.rb", "it 'a' do\n  expect(1).to eq 1\nend\n  xit 'b' do\n", policy.TestCount{Cases: 1, Skips: 1, Checks: 1}},
		{"tests/a.sh", "# grep -q x y\ngrep -q a b\ntest -e c\n", policy.TestCount{Checks: 2}},
	} {
		l := languageOf(c.file)
		if l == nil {
			t.Errorf("%s isn't a test file", c.file)
			continue
		}
		if got, empty := l.count([]byte(c.content)); got != c.want || empty {
			t.Errorf("%s: %+v, empty %v, want %+v", c.file, got, empty, c.want)
		}
	}
	for _, name := range []string{"main.go", "contest.py", "src/index.ts", "Latest.java", "requests/1.md", "docs/testing.md", "src/features/login.tsx", "latest/x.txt", "attest.c"} {
		if languageOf(name) != nil {
			t.Errorf("%s is a test file", name)
		}
	}
}

func TestARemovedTestFileIsGone(t *testing.T) {
	t.Parallel()
	contents := map[string][]byte{"old": []byte("func TestA(t *testing.T) { t.Error(1) }\n"), "empty": []byte("// nothing\n"), "code": []byte("fn a() { assert!(true) }")}
	change := func(path, old, id, mode string) git.Change {
		return git.Change{Path: path, OldID: old, NewID: id, OldMode: git.Regular, NewMode: mode}
	}
	if f, ok := File(change("a_test.go", "old", "", git.Absent), contents); !ok || !f.Gone {
		t.Errorf("a removed file: %+v, %v", f, ok)
	}
	if f, ok := File(change("a_test.go", "old", "link", git.Symlink), contents); !ok || !f.Gone {
		t.Errorf("a link in its place: %+v, %v", f, ok)
	}
	if f, ok := File(change("a_test.go", "old", "empty", git.Regular), contents); !ok || !f.Emptied {
		t.Errorf("an emptied file: %+v, %v", f, ok)
	}
	if _, ok := File(change("src/lib.rs", "code", "empty", git.Regular), contents); ok {
		t.Error("a Rust file without a test counts as a test file")
	}
}

// What stops existing tests from running is seen in each language, and by lines in those that aren't known.
func TestTestsThatNoLongerRunAreNoticed(t *testing.T) {
	t.Parallel()
	const python, rust = "class TestA:\n    def test_a(self):\n        assert 1\n", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert!(true) }\n}\n"
	for _, c := range []struct {
		file, before, after string
		want                bool
	}{
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "package documentation\nfunc TestA(t *testing.T) {}\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "package a\nvar _ = `\nfunc TestA(t *testing.T) {}\n`\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "package a\nvar _ = `func TestB(`\nfunc TestA(t *testing.T) {}\n", false},
		{"tests/test_a.py", python, "'''\n" + python + "'''\n", true},
		{"tests/test_a.py", python, "\"\"\"About A.\"\"\"\n" + python, false},
		{"a.test.js", "it('a', () => { expect(1).toBe(1) })\n", "`\nit('a', () => { expect(1).toBe(1) })\n`\n", true},
		{"src/test/java/AThing.java", "@Test void a() {}\n", "String s = \"\"\"\n@Test void a() {}\n\"\"\";\n", true},
		{"src/lib.rs", rust, "const X: &str = r#\"\n" + rust + "\"#;\n", true},
		{"a_test.rb", "def test_a\n  assert 1\nend\n", "=begin\ndef test_a\n  assert 1\nend\n=end\n", true},
		{"a_test.rb", "def test_a\n  assert 1\nend\n", "__END__\ndef test_a\n  assert 1\nend\n", true},
		{"tests/a.c", "TEST(A, b) { ASSERT_EQ(1, 1); }\n", "#if 0\nTEST(A, b) { ASSERT_EQ(1, 1); }\n#endif\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "// +build ignore\n\npackage a\nfunc TestA(t *testing.T) {}\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "// a plain comment\n\npackage a\nfunc TestA(t *testing.T) {}\n", false},
		{"test_a.py", python, "class A:\n    def test_a(self):\n        assert 1\n", true},
		{"test_a.py", python, "class TestA:\n    def __init__(self): pass\n    def test_a(self):\n        assert 1\n", true},
		{"test_a.py", "class A(unittest.TestCase):\n  def test_a(self): self.assertTrue(1)\n", "class A:\n  def test_a(self): self.assertTrue(1)\n", true},
		{"test_a.py", python, "pytestmark = pytest.mark.skip(\"x\")\n" + python, true},
		{"test_a.py", "from pytest import mark\n" + python, "from pytest import mark\n@mark.skip\n" + python, true},
		{"test_a.py", python, python + "def load_tests(loader, tests, pattern): return loader.suiteClass()\n", true},
		{"test_a.py", python, python + "del TestA.test_a\n", true},
		{"a.test.js", "test(\"x\", () => { expect(1) })\n", "test(\"x\", {skip: true}, () => { expect(1) })\n", true},
		{"a.test.js", "test(\"x\", t => { expect(1) })\n", "test(\"x\", t => { return t.skip(\"later\"); expect(1) })\n", true},
		{"a.test.js", "test(\"x\", () => { expect(1) })\n", "test.concurrent.skip(\"x\", () => { expect(1) })\n", true},
		{"a.test.js", "it(\"x\", f)\nit(\"y\", f); expect(1)\n", "fit(\"x\", f)\nit(\"y\", f); it(\"z\", f); expect(1)\n", true},
		{"src/test/java/ATest.java", "@Test void a() {}\n", "@EnabledOnOs(OS.AIX) @Test void a() {}\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {}\n", "package a\nfunc TestA(t *testing.T) {}\nfunc init() { testing.Init(); flag.Set(\"test.run\", \"^$\") }\n", true},
		{"a_test.go", "package a\nfunc TestA(t *testing.T) {\n\tt.Error(1)\n}\n", "package a\nfunc TestA(t *testing.T) {\n\t//go t.Error(1)\n}\n", true},
		{"src/lib.rs", "#[cfg(test)]\nmod checks;\nfn a() {}\n", "fn a() {}\n", true},
		{"src/lib.rs", rust, "#[cfg(never)]\nmod tests {\n    #[test]\n    fn a() { assert!(true) }\n}\n", true},
		{"src/lib.rs", rust, "#[cfg(all(test,windows))]\nmod tests {\n    #[test]\n    fn a() { assert!(true) }\n}\n", true},
		{"tests/a.rs", "#[test]\nfn a() { assert!(true) }\n", "#![cfg(windows)]\n#[test]\nfn a() { assert!(true) }\n", true},
		{"src/lib.rs", rust, rust + "fn b() {}\n", false},
		{"src/a.zig", "test \"a\" {\n  try expect(true);\n}\n", "const a = 1;\n", true},
		{"t/a.t", "use Test::More;\nok(1);\n", "use Test::More;\n", true},
		{"tests/unit/a.bats", "@test \"a\" {\n  run x\n}\n", "# nothing\n", true},
		{"testdata/script/a.txtar", "exec a\nstdout b\n", "exec a\n", true},
		{"test.js", "require('./a').check()\nprocess.exitCode = 0\n", "process.exitCode = 0\n", true},
		{"test/Spec.hs", "main = hspec $ do\n  it \"a\" $ 1\n", "main = pure ()\n", true},
		{"src/ParserSpec.hs", "a\nb\n", "a\n", true},
		{"runtests.jl", "@test 1 == 1\n@test 2 == 2\n", "@test 1 == 1\n", true},
		{"tests/testthat/test-a.R", "expect_equal(1, 1)\nexpect_equal(2, 2)\n", "expect_equal(1, 1)\n", true},
		{"features/a.feature", "Scenario: a\n  Given b\n", "Scenario: a\n", true},
		{"src/a_unittest.cc", "TEST(A, B) {}\nTEST(A, C) {}\n", "TEST(A, B) {}\n", true},
		{"t/a.t", "ok(1);\n", "ok(1);\n\nok(2);\n", false},
		{"testdata/a.bin", "a\x00\nb\n", "\x00", false},
	} {
		contents := map[string][]byte{"old": []byte(c.before), "new": []byte(c.after)}
		f, _ := File(git.Change{Path: c.file, OldID: "old", NewID: "new", OldMode: git.Regular, NewMode: git.Regular}, contents)
		if reasons := policy.Weakened([]policy.TestFile{f}); len(reasons) > 0 != c.want {
			t.Errorf("%s, %q after %q: %q", c.file, c.after, c.before, reasons)
		}
		f, ok := File(git.Change{Path: c.file, OldID: "old", OldMode: git.Regular, NewMode: git.Absent}, contents)
		if !ok || !f.Gone {
			t.Errorf("%s is removed unnoticed: %+v", c.file, f)
		}
	}
}

func TestNewEndsOfTestsAreCounted(t *testing.T) {
	t.Parallel()
	const run = "func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tos.Exit(code)\n}\n"
	for _, c := range []struct {
		file, before, after string
		want                int
	}{
		{"main_test.go", "", "func TestMain(m *testing.M){ os.Exit(0) }", 1},
		{"main_test.go", "", "func TestMain(m *testing.M) {}\n\nfunc init() { os.Exit(0) }\n", 2},
		{"main_test.go", "", "func init() { os.Exit(0) }\n", 1},
		{"main_test.go", "", "import . \"os\"\nfunc init() { Exit(0) }\n", 1},
		{"main_test.go", "", "var a = \"/*\"\nfunc init() { syscall.Exit(0) }\nvar b = \"*/\"\n", 1},
		{"main_test.go", "", "func TestA(t *testing.T) { runtime.Goexit() }\n", 1},
		{"main_test.go", "", "func TestA(t *testing.T) { check(t, state.ExitCode()) }\n", 0},
		{"main_test.go", run, run, 0},
		{"main_test.go", run, run + "func TestB(t *testing.T) {}\n", 0},
		{"main_test.go", run, "func TestMain(m *testing.M) {\n\tcode := m.Run() * 0\n\tos.Exit(code)\n}\n", 1},
		{"main_test.go", run, "", 0},
		{"conftest.py", "", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n", 1},
		{"conftest.py", "x = 1\n", "x = 1\ndef pytest_collection_modifyitems(items):\n    items.clear()\n", 1},
		{"tests/__init__.py", "", "import os\nos._exit(0)\n", 1},
		{"test_a.py", "def test_a():\n    assert 1\n", "def test_a():\n    sys.exit(0)\n    pytest.exit('x', 0)\n", 2},
		{"test_a.py", "", "def test_a():\n    with pytest.raises(SystemExit):\n        main()\n", 0},
		{"a.test.ts", "", "process.exit(0)\n", 1},
		{"a.test.ts", "", "process['exit'](0)\n", 1},
		{"a.test.ts", "", "jest.spyOn(process, 'exit')\n", 0},
		{"ATest.java", "", "@Test void a() { System.exit(0); }\n", 1},
		{"src/lib.rs", "", "#[test]\nfn a() { std::process::exit(0) }\n", 1},
		{"src/main.rs", "", "fn main() { std::process::exit(run()) }\n", 0},
		{"a_spec.rb", "", "exit! 0\n", 1},
		{"tests/a.sh", "", "exit 0\n", 0},
		{"go.mod", "module a\n\ngo 1.25\n", "module a\n\ngo 1.25\n\nignore ./p\n", 1},
		{"go.mod", "ignore (\n\t./a\n)\n", "ignore (\n\t./a\n\t./p\n)\n", 1},
		{"go.mod", "ignore ./a\n", "ignore ./a\nrequire b v1.0.0\n", 0},
	} {
		change := git.Change{Path: c.file, OldID: "old", NewID: "new", OldMode: git.Regular, NewMode: git.Regular}
		if c.before == "" {
			change.OldMode = git.Absent
		}
		f, ok := File(change, map[string][]byte{"old": []byte(c.before), "new": []byte(c.after)})
		if f.Ends != c.want || c.want > 0 && !ok {
			t.Errorf("%s, %q after %q: %d, ok %v; want %d", c.file, c.after, c.before, f.Ends, ok, c.want)
		}
	}
}
