package githubtest

import (
	"fmt"
	"strconv"
	"strings"
)

// mutations are the ones that the driver calls, by their names.
func (c *call) mutations() object {
	made := object{}
	for name, perform := range map[string]func(input map[string]any) (any, *graphQLError){
		"addPullRequestReviewThreadReply": c.reply, "resolveReviewThread": c.resolve, "minimizeComment": c.minimize,
		"markPullRequestReadyForReview": c.ready, "convertPullRequestToDraft": c.draft, "enqueuePullRequest": c.enqueue,
	} {
		made[name] = field(func(arguments map[string]any) (any, *graphQLError) {
			return perform(arguments["input"].(map[string]any))
		})
	}
	return made
}

func (c *call) thread(id any) (int, *Thread) {
	for number, p := range c.st.Pulls {
		for _, t := range p.Threads {
			if t.ID == id {
				return number, t
			}
		}
	}
	return 0, nil
}

func (c *call) reply(input map[string]any) (any, *graphQLError) {
	_, t := c.thread(input["pullRequestReviewThreadId"])
	if t == nil {
		return nil, notFound("node")
	}
	made := &ThreadComment{ID: c.st.id(), Author: c.account, Body: input["body"].(string), At: c.st.tick()}
	t.Comments = append(t.Comments, made)
	return object{"comment": object{"id": fmt.Sprintf("PRRC_%d", made.ID)}}, nil
}

func (c *call) resolve(input map[string]any) (any, *graphQLError) {
	_, t := c.thread(input["threadId"])
	if t == nil {
		return nil, notFound("node")
	}
	t.Resolved = true
	return object{"thread": object{"isResolved": true}}, nil
}

func (c *call) minimize(input map[string]any) (any, *graphQLError) {
	for _, of := range c.st.Comments {
		if input["subjectId"] == "IC_"+strconv.FormatInt(of.ID, 10) {
			of.Minimized = true
			return object{"minimizedComment": object{"isMinimized": true}}, nil
		}
	}
	return nil, notFound("node")
}

func (c *call) node(id any) *Pull {
	number, _ := strconv.Atoi(strings.TrimPrefix(fmt.Sprint(id), "PR_"))
	return c.st.Pulls[number]
}

func (c *call) ready(input map[string]any) (any, *graphQLError) { return c.setDraft(input, false) }

func (c *call) draft(input map[string]any) (any, *graphQLError) { return c.setDraft(input, true) }

func (c *call) setDraft(input map[string]any, draft bool) (any, *graphQLError) {
	p := c.node(input["pullRequestId"])
	if p == nil {
		return nil, notFound("node")
	}
	p.Draft = draft
	return object{"pullRequest": object{"isDraft": draft}}, nil
}

func (c *call) enqueue(input map[string]any) (any, *graphQLError) {
	p := c.node(input["pullRequestId"])
	switch {
	case p == nil:
		return nil, notFound("node")
	case !c.queued(p.Base):
		return nil, &graphQLError{Type: "UNPROCESSABLE", Message: "Merge queue is not enabled for this branch"}
	case input["expectedHeadOid"] != c.headOf(p):
		return nil, &graphQLError{Type: "UNPROCESSABLE", Message: "Head ref does not match expected head oid"}
	case p.Queued != "":
		return nil, &graphQLError{Type: "UNPROCESSABLE", Message: "Pull request is already in the merge queue"}
	}
	p.Queued = c.headOf(p)
	return object{"mergeQueueEntry": object{"id": "MQE_1"}}, nil
}
