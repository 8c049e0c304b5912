package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/session/terminal"
)

const (
	// benchLines is how many lines each session prints, at random times half a second apart.
	benchLines = 10
	// talker prints the time of each line in microseconds. It begins when somebody types.
	talker = `exec 9<> <(:); read line; for ((i = 0; i < %d; i++)); do read -t 0.$((RANDOM %% 900 + 100)) -u 9; echo "at $EPOCHREALTIME"; done; read line`
	// idleTime is how long silent sessions are looked at: some turns of a poll.
	idleTime = 6 * time.Second
	pollTime = 2 * time.Second
)

// BenchmarkWatch measures what a watcher sees of fake agents that print at random: from a line's
// print until it was recorded and told, against a bare pipe; and what silent ones cost, against
// tmux's screens polled. Run it with -benchtime 1x.
func BenchmarkWatch(b *testing.B) {
	program := builtProgram(b)
	for _, n := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				measureWatch(b, program, n)
			}
		})
	}
}

func builtProgram(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "signalbox")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", program, "signalbox/cmd/signalbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	// As long as the program itself is not on disk, its pages count as the memory of a process that maps it alone.
	file, err := os.Open(program)
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
	return program
}

func benchSessions(b *testing.B, program string, n int, script string) (sessions []*Session, hosts []int) {
	b.Helper()
	s := newSessions(b)
	s.Program = program
	for i := range n {
		c := shell(i+1, Terminal, "")
		c.Args = []string{"bash", "-c", script}
		x := started(b, s, c)
		info, err := x.Info(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		sessions, hosts = append(sessions, x), append(hosts, info.HostPID)
	}
	return sessions, hosts
}

func measureWatch(b *testing.B, program string, n int) {
	sessions, hosts := benchSessions(b, program, n, fmt.Sprintf(talker, benchLines))
	time.Sleep(time.Second) // the last host has just begun; what is measured is what follows
	idle := busy(hosts)
	time.Sleep(idleTime) // what is measured is that nothing happens meanwhile
	idle = busy(hosts) - idle
	memory := privateMemory(b, hosts)
	polling := pollingCost(b, n)

	recorded, told := latencies(b, n, func(i int, tell func(line string, recorded time.Time)) (begin func()) {
		events, err := sessions[i].Watch(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			for e := range events {
				tell(e.Line, e.RecordedAt)
			}
		}()
		return func() {
			conn, _, err := sessions[i].request(b.Context(), request{Op: opAttach})
			if err == nil {
				err = (&frames{to: conn}).send(frameInput, []byte("\r"))
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
	_, pipes := latencies(b, n, func(_ int, tell func(string, time.Time)) (begin func()) {
		return pipe(b, func(line string) { tell(line, time.Now()) })
	})
	floor := quantile(pipes, 0.5).Seconds()
	b.ReportMetric(quantile(recorded, 0.5).Seconds()/floor, "x-pipe")
	b.ReportMetric(quantile(told, 0.5).Seconds()/floor, "told-x-pipe")
	b.ReportMetric(floor*1e3, "pipe-ms")
	b.ReportMetric(quantile(recorded, 0.99).Seconds()*1e3, "p99-ms")
	b.ReportMetric(quantile(told, 0.99).Seconds()*1e3, "told-p99-ms")
	b.ReportMetric(quantile(pipes, 0.99).Seconds()*1e3, "pipe-p99-ms")
	b.ReportMetric(idle.Seconds()/polling.Seconds(), "idle-x-polling")
	b.ReportMetric(idle.Seconds()/idleTime.Seconds()*100, "idle-%")
	b.ReportMetric(memory, "MB/host")
}

func quantile(sample []time.Duration, q float64) time.Duration {
	slices.Sort(sample)
	return sample[int(float64(len(sample)-1)*q)]
}

// latencies collects how old the lines of n talkers were when they were recorded, and when they were told.
func latencies(b *testing.B, n int, watch func(i int, tell func(line string, recorded time.Time)) (begin func())) (recorded, told []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	all := make(chan struct{})
	tell := func(line string, at time.Time) {
		text, found := strings.CutPrefix(strings.TrimSpace(line), "at ")
		microseconds, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
		if !found || err != nil {
			return
		}
		now, printed := time.Now(), time.UnixMicro(microseconds)
		mu.Lock()
		defer mu.Unlock()
		recorded = append(recorded, at.Sub(printed))
		if told = append(told, now.Sub(printed)); len(told) == n*benchLines {
			close(all)
		}
	}
	var begins []func()
	for i := range n {
		begins = append(begins, watch(i, tell))
	}
	for _, begin := range begins {
		begin()
	}
	select {
	case <-all:
	case <-time.After(time.Minute + time.Duration(n)*100*time.Millisecond):
		b.Fatalf("%d of %d lines came", len(told), n*benchLines)
	}
	return recorded, told
}

// pipe is the floor: the talker's output through a pipe, read here.
func pipe(b *testing.B, tell func(string)) (begin func()) {
	b.Helper()
	c := exec.CommandContext(b.Context(), "bash", "-c", fmt.Sprintf(talker, benchLines))
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			tell(lines.Text())
		}
	}()
	b.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	return func() { _, _ = io.WriteString(in, "\n") }
}

// busy is the processor time that the processes took, all their threads together.
func busy(pids []int) (total time.Duration) {
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, thread := range threads {
			content, _ := os.ReadFile(thread)
			if fields := strings.Fields(string(content)); len(fields) > 0 {
				ns, _ := strconv.ParseInt(fields[0], 10, 64)
				total += time.Duration(ns)
			}
		}
	}
	return total
}

// privateMemory is what one of the processes has for itself on average, in MB.
func privateMemory(b *testing.B, pids []int) float64 {
	b.Helper()
	var kilobytes int
	for _, pid := range pids {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if text, found := strings.CutPrefix(line, "Private_Dirty:"); found {
				kilobytes += number(b, strings.TrimSuffix(strings.TrimSpace(text), " kB"))
			}
		}
	}
	return float64(kilobytes) / 1024 / float64(len(pids))
}

// pollingCost is the processor time of looking at n silent windows of tmux for idleTime.
func pollingCost(b *testing.B, n int) time.Duration {
	b.Helper()
	const socket = "signalbox-bench-watch"
	run := func(args ...string) (*exec.Cmd, string) {
		c := exec.CommandContext(context.WithoutCancel(b.Context()), "tmux", append([]string{"-L", socket, "-f", os.DevNull}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			b.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return c, strings.TrimSpace(string(out))
	}
	for i := range n {
		run("new-session", "-d", "-s", strconv.Itoa(i), "sleep 600")
	}
	defer run("kill-server")
	_, text := run("display-message", "-p", "#{pid}")
	server := []int{number(b, text)}
	before, clients := busy(server), time.Duration(0)
	for i := range n {
		c, _ := run("capture-pane", "-p", "-t", "="+strconv.Itoa(i)+":")
		clients += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	turns := int64(idleTime / pollTime)
	return (busy(server) - before + clients) * time.Duration(turns)
}

// BenchmarkFlood measures how late a session's completion is known while another prints a gigabyte.
func BenchmarkFlood(b *testing.B) {
	const printedBytes = 1 << 30
	program := builtProgram(b)
	for b.Loop() {
		s := newSessions(b)
		s.Program = program
		flood := shell(1, Headless, "")
		flood.Args = []string{"bash", "-c", fmt.Sprintf("yes $(printf %%080d 0) | head -c %d", printedBytes)}
		begun := time.Now()
		flooding := started(b, s, flood)
		var late []time.Duration
		for issue := 2; issue < 12; issue++ {
			c := shell(issue, Terminal, "")
			c.Args = []string{"bash", "-c", "read line; echo \"at $EPOCHREALTIME\"; echo '" + terminal.Marker(terminal.Complete, issue) + "'; read line"}
			late = append(late, completion(b, started(b, s, c)))
		}
		info, err := flooding.Info(b.Context())
		if err != nil || info.EndedAt != nil {
			b.Fatalf("the flood ended before the others were done: %v", err)
		}
		ended(b, flooding)
		b.ReportMetric(quantile(late, 1).Seconds()*1e3, "max-ms")
		b.ReportMetric(quantile(late, 0.5).Seconds()*1e3, "median-ms")
		b.ReportMetric(printedBytes/1e6/time.Since(begun).Seconds(), "flood-MB/s")
	}
}

// completion is the time from an agent's last word until who waits for it knows.
func completion(b *testing.B, x *Session) time.Duration {
	b.Helper()
	conn, _, err := x.request(b.Context(), request{Op: opAttach})
	if err == nil {
		err = (&frames{to: conn}).send(frameInput, []byte("\r"))
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	waited(b, x)
	known := time.Now()
	_, text, _ := strings.Cut(output(b, x), "at ")
	text, _, _ = strings.Cut(text, "\r")
	microseconds, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return known.Sub(time.UnixMicro(microseconds))
}
