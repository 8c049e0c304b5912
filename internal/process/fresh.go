package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freshUmask is what programs begin with that Command.Fresh describes. One of the caller's, 077 say,
// would make a test pass or fail by who started it.
const freshUmask = 0o022

// domainMask are the bits of a personality that say for what kind of machine programs are shown it to be; the
// others change how memory is laid out.
const domainMask = 0xff

// freshen gives the calling thread, and so what it starts, what does not depend on who started us. The thread must end afterwards.
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
	return ordinaryScheduling()
}

// ordinaryScheduling leaves a real-time policy, under which an endless loop stops the machine. Niceness and
// processors stay as they are: they are how a person holds down all of a run.
func ordinaryScheduling() error {
	now, err := unix.SchedGetAttr(0, 0)
	if err != nil || now.Policy != unix.SCHED_FIFO && now.Policy != unix.SCHED_RR {
		return nil // a kernel that does not tell has given us nothing special
	}
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}, 0); err != nil {
		return fmt.Errorf("leave real-time scheduling: %w", err)
	}
	return nil
}

// unblocked calls start with no signal blocked on the calling, locked, thread: a program begins with the
// blocked signals of the thread that starts it, and ours may have been started with some.
func unblocked(start func() error) error {
	var none, before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &before); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	err := start()
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) // it cannot fail where it just did not
	return err
}
