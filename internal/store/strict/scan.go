package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks a document beside the Go type that it will be decoded into.
type scanner struct {
	dec  *jsontext.Decoder
	data []byte
}

func scan(data []byte, t reflect.Type) error {
	if len(data) > MaxSize {
		return &Flaw{err: fmt.Errorf("larger than %d bytes", MaxSize)}
	}
	s := scanner{jsontext.NewDecoder(bytes.NewBuffer(data)), data}
	if kind := s.dec.PeekKind(); kind == '[' || kind == '"' || kind == '0' || kind == 't' || kind == 'f' || kind == 'n' {
		return s.flaw(s.dec.InputOffset(), errors.New("not a JSON object"))
	}
	if err := s.value(t); err != nil {
		return err
	}
	if _, err := s.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return s.flaw(s.dec.InputOffset(), errors.New("more than one JSON value"))
	}
	return nil
}

// flaw returns err as a flaw of the first token after an offset.
func (s scanner) flaw(offset int64, err error) error {
	if e := (*jsontext.SyntacticError)(nil); errors.As(err, &e) {
		if errors.Is(e.Err, jsontext.ErrDuplicateName) {
			err = fmt.Errorf("the name %s appears twice", e.JSONPointer)
		} else {
			err = e.Err
		}
		return &Flaw{err: err, ofText: true, offset: e.ByteOffset}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("empty document")
	}
	return &Flaw{err: err, ofText: true, offset: next(s.data, offset)}
}

func (s scanner) value(t reflect.Type) error {
	before := s.dec.InputOffset()
	token, err := s.dec.ReadToken()
	if err != nil {
		return s.flaw(s.dec.InputOffset(), err)
	}
	if s.dec.StackDepth() > MaxDepth {
		return s.flaw(before, fmt.Errorf("nested deeper than %d", MaxDepth))
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch token.Kind() {
	case '{':
		return s.object(t)
	case '[':
		var entry reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			entry = t.Elem()
		}
		for s.dec.PeekKind() != ']' {
			if err := s.value(entry); err != nil {
				return err
			}
		}
		_, err := s.dec.ReadToken()
		return err
	}
	return nil
}

func (s scanner) object(t reflect.Type) error {
	members := membersOfType(t)
	for s.dec.PeekKind() != '}' {
		before := s.dec.InputOffset()
		if s.dec.PeekKind() != '"' { // reading its token refuses what is no text
			_, err := s.dec.ReadToken()
			return s.flaw(s.dec.InputOffset(), err)
		}
		quoted, err := s.dec.ReadValue()
		if err != nil {
			return s.flaw(s.dec.InputOffset(), err)
		}
		member, known := members[string(quoted[1:len(quoted)-1])]
		if !known { // not letter for letter
			name, err := jsontext.AppendUnquote(nil, quoted)
			if err == nil {
				member, err = MemberType(t, string(name))
			}
			if err != nil {
				return s.flaw(before, err)
			}
		}
		if err := s.value(member); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// MemberType returns the Go type that the object's member will be decoded into, nil for one that is only kept.
func MemberType(t reflect.Type, name string) (reflect.Type, error) {
	members := membersOfType(t)
	if typ, ok := members[name]; ok {
		return typ, nil
	}
	for known := range members {
		if strings.EqualFold(known, name) {
			return nil, fmt.Errorf("name %q is not %q", name, known)
		}
	}
	return nil, nil
}

// knownMembers caches membersOfType: asking a type takes longer than reading a value of it.
var knownMembers sync.Map // reflect.Type → map[string]reflect.Type

// membersOfType returns nil for a type without members of ours.
func membersOfType(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := knownMembers.Load(t); ok {
		return known.(map[string]reflect.Type) //nolint:forcetypeassert // nothing else is stored
	}
	members := map[string]reflect.Type{}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			members[name] = field.Type
		}
	}
	knownMembers.Store(t, members)
	return members
}
