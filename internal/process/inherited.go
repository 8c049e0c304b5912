package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DropInherited keeps open files beyond the three standard ones, ignored signals and soft resource
// limits, which this process got from its starter, out of the programs that it starts. Each of our
// programs calls it first. (Starting a program drops the thread's blocked signals, and Command.Fresh
// drops the umask and the like.)
//
// Inherited files stay open for this process: "signalbox … <(command)" names one by /dev/fd/63.
func DropInherited() error {
	// A umask that takes rights from the owner locks us out of our own folders. The rights that it takes
	// from others are the user's choice, and stay so.
	unix.Umask(unix.Umask(0) &^ 0o700)
	return errors.Join(sealFiles(), dropIgnored(), resetLimits())
}

// firstInherited is the first file descriptor that has no standard meaning.
const firstInherited = 3

// sealFiles marks every open file but the standard ones close-on-exec.
func sealFiles() error {
	err := unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd") // Linux before 5.11
	if err != nil {
		return fmt.Errorf("find inherited files: %w", err)
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstInherited {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// ignoredAtStart are the signals that have no effect on this process although its children take them.
// Signals are numbered from 1.
var ignoredAtStart [65]bool

// IgnoredAtStart reports whether this process's starter made it ignore a signal, as nohup does.
func IgnoredAtStart(s syscall.Signal) bool {
	return ignoredAtStart[s] || signal.Ignored(s)
}

// dropIgnored makes the programs that this one starts take the signals that it was started to ignore.
// A child inherits "ignored" but not "handled", so a signal that must stay ignored here gets a handler
// that does nothing. Go's runtime already handles most others.
func dropIgnored() error {
	for s := syscall.Signal(1); s <= 64; s++ {
		var action [4]uint64 // handler, flags, restorer and mask: all zero is the default
		const maskSize, ignored = 8, 1
		at := uintptr(unsafe.Pointer(&action))
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), 0, at, maskSize, 0, 0); errno != 0 {
			return fmt.Errorf("look at signal %d: %w", int(s), errno)
		}
		if action[0] != ignored {
			continue
		}
		switch s {
		case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTSTP:
			ignoredAtStart[s] = true
			signal.Notify(make(chan os.Signal, 1), s)
		default:
			// Reading or writing at a terminal from the background cannot be answered by a handler
			// that does nothing: the kernel would ask again for ever. Package signal cannot give a signal its
			// default effect: its Reset restores what was inherited.
			action = [4]uint64{}
			if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), at, 0, maskSize, 0, 0); errno != 0 {
				return fmt.Errorf("reset signal %d: %w", int(s), errno)
			}
		}
	}
	return nil
}

const (
	unlimited = math.MaxUint64
	// noCore is the one value with which a crash starts no handler of the machine's: core_pattern may
	// name a program that runs outside of every sandbox with the crashed program's memory, and 0 does
	// not keep the kernel from it.
	noCore = 1
	// openFiles is enough for any build, and little enough for programs that close each possible one.
	openFiles = 1 << 16
)

// softLimits are the soft limits that programs start with, as far as the hard ones allow: the kernel's defaults, except for core and open files.
// Hard limits stay: they are the decision of this machine's administrator.
var softLimits = map[int]uint64{
	unix.RLIMIT_CPU: unlimited, unix.RLIMIT_FSIZE: unlimited, unix.RLIMIT_DATA: unlimited, unix.RLIMIT_AS: unlimited,
	unix.RLIMIT_RSS: unlimited, unix.RLIMIT_NPROC: unlimited, unix.RLIMIT_LOCKS: unlimited, unix.RLIMIT_SIGPENDING: unlimited,
	unix.RLIMIT_RTTIME: unlimited, unix.RLIMIT_STACK: 8 << 20, unix.RLIMIT_MEMLOCK: 8 << 20, unix.RLIMIT_MSGQUEUE: 819200,
	unix.RLIMIT_NICE: 0, unix.RLIMIT_RTPRIO: 0, unix.RLIMIT_CORE: noCore, unix.RLIMIT_NOFILE: openFiles,
}

// resetLimits sets the soft limits of this process, and so of all that it starts.
func resetLimits() error {
	for resource, soft := range softLimits {
		var l syscall.Rlimit
		err := syscall.Getrlimit(resource, &l)
		if resource == unix.RLIMIT_CORE {
			l.Max = min(l.Max, noCore) // else the program could raise it
		}
		l.Cur = min(soft, l.Max)
		if err == nil {
			err = syscall.Setrlimit(resource, &l) // of the runtime's own package, which restores another limit of open files otherwise
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("set resource limit %d: %w", resource, err)
		}
	}
	return nil
}

// freshUmask is the umask of Command.Fresh. With the caller's, 077 say, a test would pass or fail
// depending on its starter.
const freshUmask = 0o022

// domainMask are the bits of a personality that name the kind of machine that programs see; the others change
// the layout of memory.
const domainMask = 0xff

// freshen gives the calling thread, and so what it starts, a umask, a personality and a scheduling policy that don't depend on
// our starter. The thread must end afterwards.
func freshen() error {
	// Umask and working directory are the process's until the thread has a copy of its own.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("get a umask of its own: %w", err)
	}
	unix.Umask(freshUmask)
	const ask = 0xffffffff
	if now, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, ask, 0, 0); errno == 0 && now&^domainMask != 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, now&domainMask, 0, 0) // which the kernel never refuses
	}
	// A real-time policy, under which an endless loop stops the machine, is left. Niceness and processors stay as
	// they are: they are how a person holds down all of a run.
	now, err := unix.SchedGetAttr(0, 0)
	if err != nil || now.Policy != unix.SCHED_FIFO && now.Policy != unix.SCHED_RR {
		return nil // a kernel that does not tell has given us nothing special
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0); err != nil {
		return fmt.Errorf("leave real-time scheduling: %w", err)
	}
	return nil
}
