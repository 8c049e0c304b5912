package rest

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"signalbox/internal/forge"
)

// Judged turns the error of a call into one of the port's.
func (t *Transport) Judged(err error) error {
	var inURL *url.Error // its text has the whole URL, which can be signed
	asked := errors.As(err, &inURL)
	if asked {
		err = inURL.Err
	}
	var failure *forge.Failure
	if errors.As(err, &failure) || known(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if !asked { // the answer can't be decoded, and the error quotes it
		err = fmt.Errorf("%w: %s", ErrNotAPI, t.Clean(err.Error()))
	}
	return &forge.Failure{Kind: forge.Unavailable, Err: err}
}

// known reports whether an error is one of the port's already.
func known(err error) bool {
	for _, sentinel := range []error{forge.ErrNotFound, forge.ErrExists, forge.ErrNotReady, forge.ErrConflict, forge.ErrHeadMoved} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}
