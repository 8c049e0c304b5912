package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// BenchmarkSyncCheckout moves 100 of 2,000 files forth and back.
func BenchmarkSyncCheckout(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		command := exec.CommandContext(b.Context(), "git", append([]string{"-c", "commit.gpgSign=false"}, args...)...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	fill := func(files int, content string) {
		for i := range files {
			if err := os.WriteFile(fmt.Sprintf("%s/file-%d", dir, i), []byte(content), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		run("add", "-A")
		run("commit", "-q", "-m", "next")
	}
	run("init", "-q")
	fill(2000, "one\n")
	run("branch", "old")
	fill(100, "two\n")
	repo, err := git.Open(b.Context(), process.Host{}, dir)
	if err != nil {
		b.Fatal(err)
	}
	from, err := repo.Resolve(b.Context(), mainRef)
	if err != nil {
		b.Fatal(err)
	}
	to, err := repo.Resolve(b.Context(), "refs/heads/old")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := repo.SyncCheckout(b.Context(), mainRef, from, to); err != nil {
			b.Fatal(err)
		}
		from, to = to, from
	}
}

func BenchmarkResolve(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "sh", "-c", `cd "$1" && git init -q && git -c commit.gpgSign=false commit -q --allow-empty -m x`, "sh", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	repo, err := git.Open(b.Context(), process.Host{}, dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := repo.Resolve(b.Context(), mainRef); err != nil {
			b.Fatal(err)
		}
	}
}
