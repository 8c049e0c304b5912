package engine

// Op is what an Order asks for.
type Op string

// The operations. Each may be repeated.
const (
	OpVersion     Op = "version"
	OpImage       Op = "image"        // looks at image Name
	OpImages      Op = "images"       // lists those with Labels, of the repository Name unless it is empty
	OpBuild       Op = "build"        // builds Build and answers with its Image
	OpTag         Op = "tag"          // gives image Name the further name To
	OpRemoveImage Op = "remove-image" // takes the name Name away, and the image with its last name; an id that is in use stays
	OpContainer   Op = "container"    // looks at container Name
	OpContainers  Op = "containers"   // lists those with Labels, running or not
	OpCreate      Op = "create"       // creates Spec; ErrConflict when its name is taken
	OpRestart     Op = "restart"      // starts container Name, ending what runs in it
	OpStop        Op = "stop"         // ends what runs in container Name, which stays
	OpRemove      Op = "remove"       // ends and removes container Name; one that is not there is no error
	OpChanged     Op = "changed"      // says whether container Name changed anything but Except
	OpCommit      Op = "commit"       // makes image To, with Labels, of container Name
	OpLogs        Op = "logs"         // the last lines that container Name's first process printed
)

// Order is one thing to be done.
type Order struct {
	Op     Op                `json:"op"`
	Name   string            `json:"name,omitempty"`
	To     string            `json:"to,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Spec   *Spec             `json:"spec,omitempty"`
	Build  *Build            `json:"build,omitempty"`
	// Except are paths that may have changed, with all below them.
	Except []string `json:"except,omitempty"`
}

// Fault is the kind of an error, for errors.Is on the other side.
type Fault string

// The kinds.
const (
	FaultNotFound Fault = "not_found"
	FaultConflict Fault = "conflict"
	FaultNoDaemon Fault = "no_daemon"
	FaultOther    Fault = "other"
)

// faults are the errors that travel.
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
