package perform

import (
	"context"
	"errors"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Agreements is what people agreed to in earlier runs of the project. It lies where nothing that a repository brings or
// an agent writes can reach it.
type Agreements interface {
	// SetUpAgreed reports whether a person agreed to a set-up, by its workflow.SetUp.Content.
	SetUpAgreed(content string) (bool, error)
	// AgreeToSetUp keeps that a person did, and what they were shown, for later runs. It may be done twice.
	AgreeToSetUp(content string, shown []string) error
}

// findAgreement looks for an earlier consent. What cannot be read is none: then a person is asked.
func (x *execution) findAgreement(_ context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	event := workflow.AgreementFound{Outcome: o}
	if x.Agreements == nil {
		return event, nil
	}
	content := x.run.Details.SetUp.Content()
	agreed, err := x.Agreements.SetUpAgreed(content)
	x.logged("read agreements", err)
	if agreed && err == nil {
		event.Content = content
	}
	return event, nil
}

// keepAgreement remembers the consent that the document has. That it cannot be kept costs a question, not the run.
func (x *execution) keepAgreement(_ context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	err := errors.New("nothing remembers agreements here")
	if x.Agreements != nil {
		s := x.run.Details.SetUp
		err = x.Agreements.AgreeToSetUp(s.Agreed.Content, s.Shown())
	}
	if err == nil {
		return workflow.AgreementKept{Outcome: o}, nil
	}
	x.logged("keep agreement", err)
	return workflow.AgreementKept{Outcome: o, Problem: redact.Line(x.Redact.String(err.Error()), 200)}, nil
}
