package environmenttest

import "testing"

// testAdopted: a setup filled a folder such as .venv that the project doesn't ignore.
func testAdopted(t *testing.T, s *site) {
	look := func(on *site) string {
		t.Helper()
		return on.must(t, "cat 'env [x]/deep/run' src/env/x; git status --porcelain --untracked-files=all")
	}
	s.restore(t, s.spec.Commit)
	s.must(t, "mkdir -p 'env [x]/deep' src/env && echo run >'env [x]/deep/run' && echo x >src/env/x && echo loose >loose")
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
			t.Fatal(err)
		}
		equal(t, "files of the setup", look(s), "run\nx\n")
		equal(t, "changed", s.record(t, s.spec.Commit).Changed, false)
		s.must(t, "test ! -e loose && rm -f .git/info/exclude && echo x >>README.md && git checkout --quiet README.md")
	}
	if !s.Keeps || !s.restore(t, s.spec.Commit) {
		return
	}
	equal(t, "files of the setup in the snapshot", look(s), "run\nx\n")
	s.must(t, "echo new >'env [x]/deep/new'; echo x >x")
	if change := s.record(t, s.spec.Commit); !change.Changed {
		t.Error("a change outside the adopted folders is not recorded")
	}
	if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "files of the setup after a reset", look(s), "run\nx\n")
}

// testOwnIgnore: git lists such a folder among the ignored files, and the files in it as well.
func testOwnIgnore(t *testing.T, s *site) {
	s.restore(t, s.spec.Commit)
	s.must(t, "mkdir -p own/sub && echo '*' >own/.gitignore && echo x >own/sub/x && echo y >own/y")
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if !s.Keeps || !s.Isolated {
		return
	}
	other := s.another(t, "other") // it may be based on the snapshot without showing any of it
	equal(t, "files of the snapshot, in a new environment", other.must(t, "ls own 2>/dev/null; true"), "")
	equal(t, "warm", other.restore(t, s.spec.Commit), true)
	equal(t, "files of the snapshot", other.must(t, "cat own/sub/x own/y"), "x\ny\n")
}
