package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"signalbox/internal/process"
)

// children are the programs that the tests run. Those that wait for their end say "ready" first.
func children() map[string]func() {
	return map[string]func(){
		"exit 3":                    func() { os.Exit(3) },
		"kill itself":               func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); hang() },
		"cat":                       func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
		"print the environment":     func() { fmt.Println(strings.Join(os.Environ(), "\n")) },
		"print the folder":          func() { dir, _ := os.Getwd(); fmt.Println(dir) },
		"print on both in turn":     printInTurn,
		"print 1 GiB":               func() { print(1 << 10) },
		"print 16 MiB":              func() { print(16) },
		"print for ever":            func() { print(-1) },
		"tick for ever":             func() { tick() },
		"hang":                      func() { ready(); hang() },
		"hang silently":             hang,
		"stop itself":               func() { ready(); _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP); hang() },
		"ignore SIGTERM":            func() { signal.Ignore(syscall.SIGTERM); ready(); hang() },
		"tidy up on SIGTERM":        tidyUp,
		"leave a daemon":            func() { spawn("hang", true, false); fmt.Println("done") },
		"leave a daemon printing":   func() { spawn("hang", true, true); fmt.Println("done") },
		"leave a sleeper printing":  func() { spawn("hang", false, true); fmt.Println("done") },
		"let a daemon escape":       letEscape,
		"have a deaf grandchild":    func() { spawn("ignore SIGTERM", false, true); hang() },
		"have a daemon and hang":    func() { spawn("hang", true, false); ready(); hang() },
		"run a child":               func() { runChild("hang") },
		"run a child with a daemon": func() { runChild("have a daemon and hang") },
		"run a glutton":             runGlutton,
		"take memory":               takeMemory,
		"sweep by its own tag":      sweepItself,
		"print its control groups":  func() { printFile("/proc/self/cgroup"); ready(); _, _ = io.Copy(io.Discard, os.Stdin) },
		"have a glutton and fail":   func() { runChild("take memory"); os.Exit(3) },
		"start 50 sleepers":         startSleepers,
		"run a limited child":       func() { runLimited("hang") },
		"drop and hang up":          dropAndHangUp,
		"wait for one tidying up":   func() { spawn("tidy up on SIGTERM", true, true); hang() },
	}
}

func ready() {
	fmt.Println("ready")
	fmt.Fprintln(os.Stderr, "ready")
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func tick() {
	for range time.Tick(50 * time.Millisecond) {
		fmt.Println("tick")
	}
}

func print(mebibytes int) {
	for block := make([]byte, 1<<20); mebibytes != 0; mebibytes-- {
		_, _ = os.Stdout.Write(block)
	}
}

func printInTurn() {
	for i := range 500 {
		fmt.Printf("out %d\n", i)
		fmt.Fprintf(os.Stderr, "err %d\n", i)
	}
}

func tidyUp() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	ready()
	<-term
	fmt.Println("tidy")
}

func holdLifeline() {
	path := os.Getenv(lifelineVariable)
	if path == "" {
		return
	}
	fifo, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	if _, err := fifo.WriteString("x"); err != nil {
		panic(err)
	}
	held = fifo
}

// held keeps the lifeline from being closed by the garbage collector.
var held *os.File

// spawn starts a child of the child, and returns when it says that it is ready.
func spawn(name string, newSession, inheritStdout bool) {
	said, says, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = childEnv(name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: newSession}
	// It says so on its standard error, which is not what it may hold open.
	cmd.Stderr = says
	if inheritStdout {
		cmd.Stdout = os.Stdout
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
}

// letEscape leaves a daemon behind that does not carry the tag and holds standard output.
func letEscape() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{childVariable + "=hang silently"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid)
}

// childEnv is our own environment, for another child. A variable given twice would have its first
// value, and the child run itself for ever.
func childEnv(name string) []string {
	env := slices.DeleteFunc(os.Environ(), func(assignment string) bool {
		return strings.HasPrefix(assignment, childVariable+"=")
	})
	return append(env, childVariable+"="+name)
}

// runChild is a Signalbox in small: it runs a child by process.Run.
func runChild(name string) process.Result {
	result, err := process.Run(context.Background(), process.Command{
		Args:   []string{os.Args[0]},
		Env:    childEnv(name),
		Stdout: os.Stdout,
	})
	if err != nil {
		panic(err)
	}
	return result
}

const ownTag = "SIGNALBOX_SWEEP_TEST=own"

func sweepItself() {
	if killed, err := process.Sweep(context.Background(), ownTag); err != nil || killed != 0 {
		panic(fmt.Sprint(killed, err))
	}
}

// runGlutton enters the control group named by its input, runs a child that takes more memory
// than that allows, and prints the result.
func runGlutton() {
	group, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	enter, err := os.OpenFile(string(group)+"/cgroup.procs", os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	if _, err := enter.WriteString("0"); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(runChild("take memory")); err != nil {
		panic(err)
	}
}

// takeMemory takes more than the control group of runGlutton allows, and no more than a machine has.
func takeMemory() {
	block := make([]byte, 512<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	fmt.Println(block[0])
}

func printFile(name string) {
	content, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(content)
}

// startSleepers prints how many it could start.
func startSleepers() {
	for i := range 50 {
		if err := exec.Command("/bin/sleep", "1000").Start(); err != nil {
			fmt.Println(i)
			return
		}
	}
	fmt.Println(50)
}

func runLimited(name string) {
	_, err := process.Run(context.Background(), process.Command{
		Args: []string{os.Args[0]}, Env: childEnv(name), Stdout: os.Stdout, Limits: process.Limits{Processes: 100},
	})
	if err != nil {
		panic(err)
	}
}

// dropAndHangUp says whether it outlives a signal that it was started to ignore, and what its child then ignores.
func dropAndHangUp() {
	if err := process.DropInherited(); err != nil {
		fmt.Println(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	fmt.Println("alive", process.IgnoredAtStart(syscall.SIGHUP), process.IgnoredAtStart(syscall.SIGINT))
	c := exec.Command("grep", "SigIgn", "/proc/self/status")
	c.Stdout = os.Stdout
	_ = c.Run()
	fmt.Printf("umask %#o\n", syscall.Umask(0))
}
