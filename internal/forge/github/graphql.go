package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"signalbox/internal/forge"
)

// The documents are held against GitHub's published schema by the tests.
const (
	viewerQuery = `query { viewer { login } }`

	threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id path line isResolved isOutdated
          comments(first: 50) {
            nodes { fullDatabaseId body url createdAt lastEditedAt authorAssociation author { __typename login } }
          }
        }
      }
    }
  }
}`
	editedQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { issue(number: $number) { lastEditedAt } }
}`
	replyMutation = `mutation($thread: ID!, $body: String!) {
  addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $thread, body: $body}) { comment { id } }
}`
	resolveMutation = `mutation($thread: ID!) {
  resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } }
}`
	minimizeMutation = `mutation($comment: ID!) {
  minimizeComment(input: {subjectId: $comment, classifier: RESOLVED}) { minimizedComment { isMinimized } }
}`
	readyMutation = `mutation($pull: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $pull}) { pullRequest { isDraft } }
}`
	draftMutation = `mutation($pull: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $pull}) { pullRequest { isDraft } }
}`
	queueQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { id state headRefOid mergeQueueEntry { id } }
  }
}`
	forkQuery = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { forks(first: 1, affiliations: [OWNER]) { nodes { nameWithOwner } } }
}`
	enqueueMutation = `mutation($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $pull, expectedHeadOid: $head}) { mergeQueueEntry { id } }
}`
)

// graphQLError is one of the errors that GraphQL answers with status 200.
type graphQLError struct {
	Type, Message string
}

// query performs a query or a mutation. Data beside errors counts as no answer.
func (s *Server) query(ctx context.Context, document string, variables map[string]any, data any) error {
	if strings.HasPrefix(document, "mutation") {
		ctx = forge.Recent(ctx, 0)
	}
	req, err := s.transport.RequestTo(ctx, "POST graphql", s.at.graphql, map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	reply := struct {
		Data   any
		Errors []graphQLError
	}{Data: data}
	resp, err := s.transport.Answered(req, &reply)
	if err != nil {
		return err
	}
	if len(reply.Errors) > 0 {
		return s.refusedQuery(reply.Errors, resp)
	}
	return nil
}

func (s *Server) refusedQuery(refused []graphQLError, resp *http.Response) error {
	var messages []string
	for _, e := range refused {
		messages = append(messages, e.Message)
	}
	failure := &forge.Failure{Kind: forge.Refused, Status: resp.StatusCode, Message: s.transport.Clean(strings.Join(messages, ": "))}
	switch refused[0].Type {
	case "NOT_FOUND":
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotFound, failure.Message)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		failure.Kind = forge.Forbidden
	case "RATE_LIMITED", "RATE_LIMIT":
		failure.Kind = forge.Limited
		if failure.RetryAfter = s.transport.Wait(resp.Header); failure.RetryAfter == 0 {
			failure.RetryAfter = secondaryWait
		}
	case "", "SERVICE_UNAVAILABLE", "INTERNAL": // without a type: "Something went wrong while executing your query"
		failure.Kind = forge.Unavailable
	}
	return failure
}

var errNoData = errors.New("GitHub's answer lacks what was asked for")
