package engine

// Op is the operation of an Order.
type Op string

// The operations. Each may be repeated, for example after a crash.
const (
	OpVersion     Op = "version"
	OpImage       Op = "image"        // returns image Name
	OpImages      Op = "images"       // lists those with Labels, of the repository Name unless it is empty
	OpBuild       Op = "build"        // builds Build and returns its Image
	OpTag         Op = "tag"          // gives image Name the additional name To
	OpRemoveImage Op = "remove-image" // removes the name Name, and the image with its last name; an id in use stays
	OpContainer   Op = "container"    // returns container Name
	OpContainers  Op = "containers"   // lists those with Labels, running or not
	OpCreate      Op = "create"       // creates Spec; ErrConflict if its name is taken
	OpRestart     Op = "restart"      // starts container Name, ending what runs in it
	OpStop        Op = "stop"         // ends what runs in container Name, and keeps the container
	OpRemove      Op = "remove"       // ends and removes container Name; a missing one is no error
	OpChanged     Op = "changed"      // reports whether container Name changed anything but Except
	OpCommit      Op = "commit"       // makes image To, with Labels, from container Name
	OpLogs        Op = "logs"         // returns the last lines that container Name's first process printed
)

// Order is one request to the engine's program.
type Order struct {
	Op     Op                `json:"op"`
	Name   string            `json:"name,omitempty"`
	To     string            `json:"to,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Spec   *Spec             `json:"spec,omitempty"`
	Build  *Build            `json:"build,omitempty"`
	// Except are paths that may have changed, with everything below them.
	Except []string `json:"except,omitempty"`
}

// Fault is the kind of an error, so that errors.Is works on the other side.
type Fault string

// The kinds of errors.
const (
	FaultNotFound Fault = "not_found"
	FaultConflict Fault = "conflict"
	FaultNoDaemon Fault = "no_daemon"
	FaultOther    Fault = "other"
)

// faults are the errors that are passed on by kind.
var faults = map[Fault]error{FaultNotFound: ErrNotFound, FaultConflict: ErrConflict, FaultNoDaemon: ErrNoDaemon}

// Answer is the result of an Order.
type Answer struct {
	Fault   Fault  `json:"fault,omitempty"`
	Message string `json:"message,omitempty"`

	Version    *Version    `json:"version,omitempty"`
	Image      *Image      `json:"image,omitempty"`
	Images     []Image     `json:"images,omitempty"`
	Container  *Container  `json:"container,omitempty"`
	Containers []Container `json:"containers,omitempty"`
	Changed    bool        `json:"changed,omitempty"`
	Logs       string      `json:"logs,omitempty"`
}
