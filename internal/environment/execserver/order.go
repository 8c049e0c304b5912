package execserver

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
)

// take takes one frame that may come while a command runs, and reports whether there may be more.
func (r *reader) take(in *input, sizes chan process.TerminalSize) bool {
	k, payload, err := r.next()
	switch {
	case err != nil:
		return false
	case k == kindInput:
		return in.put(payload)
	case k == kindSize && len(payload) == 4:
		size := process.TerminalSize{Rows: binary.BigEndian.Uint16(payload), Columns: binary.BigEndian.Uint16(payload[2:])}
		select {
		case <-sizes: // only the last one counts
		default:
		}
		sizes <- size
		return true
	}
	return false
}

func readOrder(from *reader) (o order, err error) {
	k, payload, err := from.next()
	if err != nil {
		return o, err
	}
	if k != kindOrder {
		return o, errFrame
	}
	return o, json.Unmarshal(payload, &o)
}

// stale says what here is not as the client means it to be.
func (o order) stale() string {
	if o.Version != Version {
		return "the exec server has version " + Version
	}
	for _, m := range o.Mounts {
		var stat unix.Stat_t
		if err := unix.Stat(m.Path, &stat); err != nil {
			return fmt.Sprintf("look at %s: %v", m.Path, err)
		}
		if stat.Dev != m.Device || stat.Ino != m.Inode {
			return m.Path + " is another folder"
		}
	}
	return ""
}

// outputs returns where the command's output goes; nil if the client does not read it.
func (o order) outputs(to *frames) (stdout, stderr io.Writer) {
	if o.Out {
		stdout = &stream{to, kindOut}
	}
	switch {
	case o.Merged:
		stderr = stdout
	case o.Err:
		stderr = &stream{to, kindErr}
	}
	return stdout, stderr
}
