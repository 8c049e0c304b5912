package environmenttest

import "testing"

// testAdopted: a setup filled a folder such as .venv that the project does not ignore.
func testAdopted(t *testing.T, s *site) {
	look := func(on *site) string {
		t.Helper()
		return on.must(t, "cat 'env [x]/deep/run' src/env/x; git status --porcelain --untracked-files=all")
	}
	s.renew(t, s.spec.Commit)
	s.must(t, "mkdir -p 'env [x]/deep' src/env && echo run >'env [x]/deep/run' && echo x >src/env/x && echo loose >loose")
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
			t.Fatal(err)
		}
		equal(t, "what the set-up made", look(s), "run\nx\n")
		equal(t, "changed", s.record(t, s.spec.Commit).Changed, false)
		s.must(t, "test ! -e loose && rm -f .git/info/exclude && echo x >>README.md && git checkout --quiet README.md")
	}
	if !s.Keeps || !s.renew(t, s.spec.Commit) {
		return
	}
	equal(t, "what the set-up made, kept", look(s), "run\nx\n")
	s.must(t, "echo new >'env [x]/deep/new'; echo x >x")
	if change := s.record(t, s.spec.Commit); !change.Changed {
		t.Error("a change beside what was adopted is not recorded")
	}
	if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "what the set-up made, after a reset", look(s), "run\nx\n")
}

// testOwnIgnore: git names such a folder among what it ignores, and what lies in it as well.
func testOwnIgnore(t *testing.T, s *site) {
	s.renew(t, s.spec.Commit)
	s.must(t, "mkdir -p own/sub && echo '*' >own/.gitignore && echo x >own/sub/x && echo y >own/y")
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if !s.Keeps || !s.Isolated {
		return
	}
	other := s.another(t, "other") // it may be based on the snapshot without showing any of it
	equal(t, "what was kept, in a new environment", other.must(t, "ls own 2>/dev/null; true"), "")
	equal(t, "warm", other.renew(t, s.spec.Commit), true)
	equal(t, "what was kept", other.must(t, "cat own/sub/x own/y"), "x\ny\n")
}
