// Package containeruse owns the words of container-use (https://github.com/dagger/container-use, its MCP tools and git refs as of 2e43e62,
// August 2026), whose environments Signalbox records but doesn't make: which tool calls concern an environment, and which environments its
// git remote and notes name. It changes nothing and starts nothing.
package containeruse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/git"
	"signalbox/internal/lazy"
)

// create is the tool that makes an environment. All tools of an environment have the prefix.
const (
	toolPrefix = "environment_"
	create     = "environment_create"
)

// listing are the tools that concern no single environment.
var listing = map[string]bool{"environment_list": true}

// Call is a call of a tool that concerns an environment.
type Call struct {
	Tool string `json:"tool"`
	// EnvID is empty for a call that creates the environment, and where the server remembers the current one.
	EnvID string `json:"env_id,omitempty"`
	Title string `json:"title,omitempty"`
	// Issue is the issue that the call's texts name, 0 for none.
	Issue int `json:"issue,omitempty"`
}

// Creates reports whether the call makes an environment.
func (c Call) Creates() bool { return c.Tool == create }

// Done is a call that was answered. EnvID and Title are those of the answer, if it has them.
type Done struct {
	Call
	Failed bool
}

// Follower pairs what a client sends with what the server answers.
type Follower struct {
	pending map[string]Call // by the id of the request, as JSON
}

// maxPending bounds the calls that a Follower remembers. A client that leaves more unanswered is followed no further.
const maxPending = 1000

// message is what this package reads of a JSON-RPC message.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			EnvID       string `json:"environment_id"`
			Title       string `json:"title"`
			Explanation string `json:"explanation"`
			From        string `json:"from_git_ref"`
		} `json:"arguments"`
	} `json:"params"`
	Error  jsontext.Value `json:"error"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// messages are those of a line, which may be a batch. What can't be read is the server's business.
func messages(line []byte) (all []message) {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("[")) {
		_ = json.Unmarshal(line, &all)
		return all
	}
	var one message
	if json.Unmarshal(line, &one) != nil {
		return nil
	}
	return []message{one}
}

// Sent returns the calls in a line of the client.
func (f *Follower) Sent(line []byte) (calls []Call) {
	for _, m := range messages(line) {
		if m.Method != "tools/call" || !strings.HasPrefix(m.Params.Name, toolPrefix) || listing[m.Params.Name] || len(f.pending) >= maxPending {
			continue
		}
		a := m.Params.Arguments
		c := Call{Tool: m.Params.Name, EnvID: a.EnvID, Title: a.Title, Issue: IssueIn(a.Title, a.From, a.Explanation)}
		if f.pending == nil {
			f.pending = map[string]Call{}
		}
		f.pending[string(m.ID)] = c
		calls = append(calls, c)
	}
	return calls
}

// Answered returns the calls that a line of the server answers.
func (f *Follower) Answered(line []byte) (done []Done) {
	for _, m := range messages(line) {
		c, asked := f.pending[string(m.ID)]
		if m.Method != "" || !asked {
			continue
		}
		delete(f.pending, string(m.ID))
		d := Done{Call: c, Failed: m.Error != nil || m.Result.IsError}
		var environment struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		}
		for _, content := range m.Result.Content {
			if start := strings.Index(content.Text, `{"id":`); start >= 0 && environment.ID == "" { // words for the model come before or after
				_ = json.UnmarshalDecode(jsontext.NewDecoder(strings.NewReader(content.Text[start:])), &environment)
			}
		}
		if plain.Regexp().MatchString(environment.ID) && (d.Creates() || d.EnvID == "" || d.EnvID == environment.ID) {
			d.EnvID, d.Title = environment.ID, environment.Title
		}
		done = append(done, d)
	}
	return done
}

// named matches how people write an issue's number: "#42", "issue 42", "feature/issue-42-login".
var named = lazy.Expression{Text: `(?i)(?:^|[^\w&])#([1-9][0-9]{0,8})\b|\bissues?[-_/ #]{1,2}([1-9][0-9]{0,8})\b`}

// IssueIn returns the issue that the first of texts to name one names, 0 for none.
func IssueIn(texts ...string) int {
	for _, text := range texts {
		if m := named.Regexp().FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1] + m[2])
			return n
		}
	}
	return 0
}

// Branch is the name under which git finds an environment's work.
func Branch(envID string) string { return remote + envID }

// EnvOf returns the environment whose work a branch has, by its name; empty if it is none of container-use's.
func EnvOf(branch string) string {
	id, ok := strings.CutPrefix(branch, remote)
	if !ok {
		return ""
	}
	return id
}

const (
	remote   = "container-use/"
	stateRef = "refs/notes/container-use-state"
)

// Environment is an environment that container-use made.
type Environment struct {
	ID    string `json:"env_id"`
	Title string `json:"title"`
	// Created and Updated are zero if container-use hasn't noted them.
	Created time.Time `json:"created_at,omitzero"`
	Updated time.Time `json:"updated_at,omitzero"`
}

// plain matches the ids that container-use gives.
var plain = lazy.Expression{Text: `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`}

// List returns the environments that the remote container-use of a repository has, as it was fetched last. container-use fetches after every
// operation.
func List(ctx context.Context, repo *git.Repo) (all []Environment, err error) {
	refs, err := repo.Refs(ctx, "refs/remotes/container-use")
	if err != nil {
		return nil, fmt.Errorf("list environments of container-use: %w", err)
	}
	for _, ref := range refs {
		e := Environment{ID: strings.TrimPrefix(ref.Name, "refs/remotes/"+remote)}
		if !plain.Regexp().MatchString(e.ID) || e.ID == "HEAD" {
			continue
		}
		note, err := repo.Note(ctx, stateRef, ref.ID)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return nil, fmt.Errorf("read what container-use noted of %s: %w", e.ID, err)
		}
		var state struct {
			Title   string    `json:"title"`
			Created time.Time `json:"created_at"`
			Updated time.Time `json:"updated_at"`
		}
		if json.Unmarshal(note, &state) == nil { // an old format has no title
			e.Title, e.Created, e.Updated = state.Title, state.Created, state.Updated
		}
		all = append(all, e)
	}
	return all, nil
}
