package githubtest

import "time"

// Issue is an issue.
type Issue struct {
	Title, Body, Author string
	Labels              []string
	Assignee, Milestone string
	Closed              bool
	Created, Updated    time.Time
	// Labelings are who set labels, and when.
	Labelings []Labeling
	// Parts and BlockedBy are numbers of other issues.
	Parts, BlockedBy []int
	// Edited is when the body was, Renamed are when the title was.
	Edited  *time.Time
	Renamed []time.Time
	// Gone answers 410: it was deleted. Transferred is the path of the repository that has it now.
	Gone        bool
	Transferred string
}

// Labeling is one time that an account set a label.
type Labeling struct {
	ID        int64
	Label, By string
	Via       string // the application that did it in the account's name
	At        time.Time
}

// Comment is a comment below an issue or pull request.
type Comment struct {
	ID               int64
	Number           int
	Author, Body     string
	Via              string // the application that wrote it in the author's name
	Minimized        bool
	Reactions        []string
	Created, Updated time.Time
}

// Pull is a pull request. Head is its commit once it is no longer open.
type Pull struct {
	Title, Body, Author string
	// Owner is that of the head's repository.
	Owner, Branch, Base string
	Head                string
	Draft, Closed       bool
	Merge               string
	Merged              *time.Time
	Created, Updated    time.Time
	Labels              []string
	Reviews             []*Review
	Threads             []*Thread
	Queued              string
	// Asked are who were asked for a review; a team is its slug with a slash before it.
	Asked []string
	// seen are the base and the head when they were last compared.
	seen string
}

// Review is a review in GitHub's words: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING.
type Review struct {
	ID                          int64
	Author, State, Body, Commit string
	At                          time.Time
}

// Thread is a discussion of a line.
type Thread struct {
	ID, Path           string
	Line               int
	Resolved, Outdated bool
	Comments           []*ThreadComment
}

// ThreadComment is a comment in a discussion.
type ThreadComment struct {
	ID           int64
	Author, Body string
	At           time.Time
	Edited       *time.Time
}

// Status is a commit status.
type Status struct {
	ID                                        int64
	Commit, Context, State, Description, Page string
	At                                        time.Time
}

// CheckRun is a check run of an application.
type CheckRun struct {
	ID                                      int64
	Commit, Name, Status, Conclusion, Title string
	Details, External                       string
	App                                     int64
	Started                                 time.Time
	Completed                               *time.Time
}

// Issue opens an issue as a person and returns its number.
func (s *Server) Issue(title, body string, labels ...string) (number int) {
	s.With(func(st *State) {
		number = st.number()
		now := st.tick()
		st.Issues[number] = &Issue{Title: title, Body: body, Author: Person, Labels: labels, Created: now, Updated: now}
	})
	return number
}

// Edit changes an issue's body and, unless it's empty, its title.
func (s *Server) Edit(number int, title, body string) {
	s.With(func(st *State) {
		i, now := st.Issues[number], st.tick()
		i.Body, i.Edited, i.Updated = body, &now, now
		if title != "" {
			i.Title, i.Renamed = title, append(i.Renamed, now)
		}
	})
}

// Comment writes a comment as an account and returns its id.
func (s *Server) Comment(number int, author, body string) (id int64) {
	s.With(func(st *State) {
		id = st.id()
		now := st.tick()
		st.Comments = append(st.Comments, &Comment{ID: id, Number: number, Author: author, Body: body, Created: now, Updated: now})
		st.touch(number, now)
	})
	return id
}

// Label sets a label on an issue as an account.
func (s *Server) Label(number int, by, label string) {
	s.With(func(st *State) {
		i := st.Issues[number]
		i.Labels = append(i.Labels, label)
		i.Labelings = append(i.Labelings, Labeling{ID: st.id(), Label: label, By: by, At: st.tick()})
		i.Updated = st.Now
	})
}

// touch marks an issue or a pull request as changed.
func (st *State) touch(number int, now time.Time) {
	if i := st.Issues[number]; i != nil {
		i.Updated = now
	}
	if p := st.Pulls[number]; p != nil {
		p.Updated = now
	}
}

// Review reviews the pull request's present head.
func (s *Server) Review(number int, author, state, body string) {
	s.With(func(st *State) {
		p := st.Pulls[number]
		p.Reviews = append(p.Reviews, &Review{ID: st.id(), Author: author, State: state, Body: body, Commit: s.headOf(p), At: st.tick()})
	})
}

// MergeQueued has the queue merge a pull request that it has.
func (s *Server) MergeQueued(number int) {
	s.With(func(st *State) {
		p := st.Pulls[number]
		base := s.Head(p.Base)
		tree, _ := s.Merged(base, p.Queued)
		p.Merge = s.MustRun("Merge by the queue\n", "commit-tree", tree, "-p", base, "-p", p.Queued)
		s.MustRun("", "update-ref", "refs/heads/"+p.Base, p.Merge, base)
		now := st.tick()
		p.Head, p.Queued, p.Closed, p.Merged, p.Updated = p.Queued, "", true, &now, now
	})
}

// number is the next one of issues and pull requests, which share their numbers.
func (st *State) number() int { return len(st.Issues) + len(st.Pulls) + 1 }

// headOf is the commit of an open pull request's branch, or the last one of another's.
func (s *Server) headOf(p *Pull) string {
	if head := s.offered(p.Owner, p.Branch); !p.Closed && head != "" {
		p.Head = head
	}
	return p.Head
}

// offered is the commit of an owner's branch; empty if there is none.
func (s *Server) offered(owner, branch string) string {
	fork := s.state.Forks[owner]
	switch {
	case owner == Owner:
		return s.Head(branch)
	case fork == nil:
		return ""
	}
	return s.Take(fork.Git, branch)
}
