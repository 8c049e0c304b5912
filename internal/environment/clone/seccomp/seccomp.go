// Package seccomp makes the filter of system calls under which every command in a sandbox runs.
package seccomp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// abi has the numbers of the filtered calls for one kind of program.
type abi struct {
	arch uint32
	// absent are calls that seem to be missing from the kernel: keyrings, which belong to a user or a session and not to
	// any namespace; calls that read or run code in the kernel; and io_uring, whose requests no filter sees.
	absent []uint32
	// ioctl may not put characters into a terminal's input. socket may not lead to the host of a virtual machine, which is
	// in no network namespace. socketcall, 0 if there is none, is an older way to make a socket; no filter sees of which
	// family.
	ioctl, socket, socketcall uint32
	// clone and unshare may not make a user namespace: its maker has every capability in it, and so reaches the parts of the
	// kernel in which most holes were found. clone3 takes its flags from memory, where no filter sees them: it seems to be
	// missing, and libraries fall back on clone. (bubblewrap's --disable-userns does the same from 0.8 on, but not if it is
	// setuid, or if /proc/sys can't be written, as in a container.)
	clone, unshare, clone3 uint32
	// above is the first number of another ABI under the same name, 0 if there is none.
	above uint32
}

// abis returns the ABIs of programs on this machine, or none if we don't know their numbers.
func abis() []abi {
	native := abi{ioctl: unix.SYS_IOCTL, socket: unix.SYS_SOCKET, clone: unix.SYS_CLONE, unshare: unix.SYS_UNSHARE, clone3: unix.SYS_CLONE3, absent: []uint32{
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_USERFAULTFD, unix.SYS_SYSLOG, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	}}
	switch runtime.GOARCH {
	case "amd64":
		native.arch, native.above = unix.AUDIT_ARCH_X86_64, 0x40000000
		return []abi{native, {arch: unix.AUDIT_ARCH_I386, ioctl: 54, socket: 359, socketcall: 102, clone: 120, unshare: 310, clone3: 435,
			absent: []uint32{286, 287, 288, 357, 336, 374, 103, 425, 426, 427}}}
	case "arm64":
		native.arch = unix.AUDIT_ARCH_AARCH64
		return []abi{native, {arch: unix.AUDIT_ARCH_ARM, ioctl: 54, socket: 281, clone: 120, unshare: 337, clone3: 435,
			absent: []uint32{309, 310, 311, 386, 364, 388, 103, 425, 426, 427}}}
	}
	return nil
}

// Offsets in the data that a filter sees of a call. Arguments are read as 32 bits, the low ones first on both architectures.
const (
	callNumber   = 0
	callArch     = 4
	callArgument = 16
)

const (
	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyOf   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	finish  = unix.BPF_RET | unix.BPF_K

	allow      = unix.SECCOMP_RET_ALLOW
	absentCall = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	forbidden  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noFamily   = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

// unless skips the next instructions if the value is not k.
func unless(k uint32, skip int) unix.SockFilter {
	return unix.SockFilter{Code: equal, K: k, Jf: uint8(skip)} //nolint:gosec // blocks are shorter than 100
}

// Filters reports whether commands in sandboxes are kept from some system calls: we know the numbers for this machine.
func Filters() bool { return abis() != nil }

// Open returns the filter as an open file from which bwrap reads it, nil if there is none. If open is set, programs may make
// user namespaces.
func Open(open bool) (*os.File, error) {
	var program []unix.SockFilter
	for _, a := range abis() {
		body := a.body(open)
		program = append(program, unix.SockFilter{Code: load, K: callArch}, unless(a.arch, len(body)))
		program = append(program, body...)
	}
	if program == nil {
		return nil, nil
	}
	program = append(program, unix.SockFilter{Code: finish, K: absentCall}) // of an ABI that we don't know
	var content bytes.Buffer
	if err := binary.Write(&content, binary.NativeEndian, program); err != nil {
		return nil, fmt.Errorf("encode system call filter: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pass system call filter: %w", err)
	}
	// It fits into the pipe: the smallest holds a page.
	if _, err := write.Write(content.Bytes()); err != nil {
		return nil, fmt.Errorf("pass system call filter: %w", err)
	}
	return read, write.Close()
}

// body returns the instructions for one ABI.
func (a abi) body(open bool) []unix.SockFilter {
	p := []unix.SockFilter{{Code: load, K: callNumber}}
	if a.above != 0 {
		p = append(p, unix.SockFilter{Code: atLeast, K: a.above, Jf: 1}, unix.SockFilter{Code: finish, K: absentCall})
	}
	for _, number := range a.absent {
		p = append(p, unless(number, 1), unix.SockFilter{Code: finish, K: absentCall})
	}
	p = append(p, argument(a.ioctl, 1, forbidden, unix.TIOCSTI, unix.TIOCLINUX)...)
	p = append(p, argument(a.socket, 0, noFamily, unix.AF_VSOCK)...)
	if a.socketcall != 0 {
		p = append(p, argument(a.socketcall, 0, absentCall, 1)...) // 1 is socket
	}
	if !open {
		p = append(p, unless(a.clone3, 1), unix.SockFilter{Code: finish, K: absentCall})
		for _, number := range []uint32{a.clone, a.unshare} {
			p = append(p, unless(number, 4), unix.SockFilter{Code: load, K: callArgument},
				unix.SockFilter{Code: anyOf, K: unix.CLONE_NEWUSER, Jf: 1},
				unix.SockFilter{Code: finish, K: forbidden}, unix.SockFilter{Code: finish, K: allow})
		}
	}
	return append(p, unix.SockFilter{Code: finish, K: allow})
}

// argument refuses a call if the argument has one of the values, and allows it otherwise.
func argument(number uint32, index int, refusal uint32, values ...uint32) []unix.SockFilter {
	p := []unix.SockFilter{{Code: load, K: uint32(callArgument + 8*index)}} //nolint:gosec // 0 to 5
	for _, value := range values {
		p = append(p, unless(value, 1), unix.SockFilter{Code: finish, K: refusal})
	}
	p = append(p, unix.SockFilter{Code: finish, K: allow})
	return append([]unix.SockFilter{unless(number, len(p))}, p...)
}
