package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// object is what "info" and "contents" say first; Type is empty when there is no such object.
type object struct {
	ID, Type string
	Size     int64
}

func readObjectLine(out *bufio.Reader) (o object, err error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return o, err
	}
	fields := strings.Fields(line)
	if len(fields) == 3 && ValidID(fields[0]) {
		o.ID, o.Type = fields[0], fields[1]
		o.Size, err = strconv.ParseInt(fields[2], 10, 64)
		return o, err
	}
	if strings.HasSuffix(line, " missing\n") || strings.HasSuffix(line, " ambiguous\n") {
		return o, nil
	}
	return o, fmt.Errorf("git printed %q", gitcmd.Clean(line))
}

// info looks an object up by its id or by a ref's full name; both were checked before.
func (r *Repo) info(ctx context.Context, name string) (o object, err error) {
	err = r.asked.Exchange(ctx, "info "+name+"\n", func(out *bufio.Reader) error {
		o, err = readObjectLine(out)
		return err
	})
	return o, err
}

// maxInline is the size up to which a file is read through the dialog, which has to read all of it.
const maxInline = 4 << 20

// beginning is the first limit bytes of an object of that type. All of it passes through the dialog.
func (r *Repo) beginning(ctx context.Context, kind, id string, limit int64) (data []byte, err error) {
	err = r.asked.Exchange(ctx, "contents "+id+"\n", func(out *bufio.Reader) error {
		o, err := readObjectLine(out)
		if err != nil || o.Type != kind {
			return errors.Join(err, gitcmd.ErrEnded)
		}
		data = make([]byte, min(o.Size, limit))
		if _, err := io.ReadFull(out, data); err != nil {
			return err
		}
		_, err = io.CopyN(io.Discard, out, o.Size-int64(len(data))+1) // and the newline after it
		return err
	})
	return data, err
}
