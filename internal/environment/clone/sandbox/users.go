package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// usersFile is the list of users, one a line: name, password, user id, group id, comment, home, shell.
const usersFile = "/etc/passwd"

// openUsers returns an open file from which bwrap reads the machine's list of users, changed in one way: our own user's home is
// HOME inside. Java and ssh ask the list for it and not the variable, and Maven would look for its repository in a place that
// doesn't exist. It returns nil if the machine has no list.
func openUsers() (*os.File, error) {
	list, err := os.ReadFile(usersFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of users: %w", err)
	}
	// It is a file in memory, because the list may not fit into a pipe.
	fd, err := unix.MemfdCreate("users", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("pass list of users: %w", err)
	}
	file := os.NewFile(uintptr(fd), "users")
	if _, err = file.Write(atHomeInside(list, os.Geteuid(), os.Getegid())); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("pass list of users: %w", err)
	}
	return file, nil
}

// atHomeInside gives the user a home inside. It adds a line if the list has none, because a directory service knows the user.
func atHomeInside(list []byte, user, group int) []byte {
	const id, home, fields = 2, 5, 7
	var changed bytes.Buffer
	found := false
	for line := range bytes.Lines(append(bytes.TrimRight(list, "\n"), '\n')) {
		entry := bytes.Split(line, []byte(":"))
		if len(entry) == fields && string(entry[id]) == strconv.Itoa(user) {
			entry[home], found = []byte(Home), true
		}
		changed.Write(bytes.Join(entry, []byte(":")))
	}
	if !found {
		fmt.Fprintf(&changed, "signalbox:x:%d:%d::%s:/bin/sh\n", user, group, Home)
	}
	return changed.Bytes()
}
