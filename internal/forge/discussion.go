package forge

import "context"

// Said is a comment that people wrote on a request. It is untrusted, like the request's text.
type Said struct {
	Author string `json:"author"`
	// Bot: a program wrote it.
	Bot  bool   `json:"bot,omitempty"`
	Body string `json:"body"`
}

// Attachment is a file, an image or a page that a request's texts link to. It is named and never fetched.
type Attachment struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Image   bool   `json:"image,omitempty"`
}

// Related is an issue that a request's text, or the server, names as its parent or as a part.
type Related struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	// Parent: the request is a part of it. Otherwise it is a part of the request.
	Parent bool `json:"parent,omitempty"`
	Closed bool `json:"closed,omitempty"`
}

// Links are the issues that the server itself links to one. Of those in other repositories, Number is 0.
type Links struct {
	// Parent is the issue of which it is a part; 0 for none in this repository. Parts are its own.
	Parent int
	Parts  []Issue
	// Needs are open issues of this repository that have to be closed before.
	Needs []int
}

// Linked is implemented by a server that links issues by more than their texts.
type Linked interface {
	Links(ctx context.Context, number int) (Links, error)
}

// Keeping is implemented by a forge on which others can change a request while a run works on it.
type Keeping interface {
	// Keep returns the request with all that was said and linked there, as the run with this id saw it first.
	Keep(ctx context.Context, run, ref string) (Request, error)
	// Renew has Keep read the request again: a person ordered the run to go on, and may have settled something there before.
	Renew(ctx context.Context, ref string) error
}
