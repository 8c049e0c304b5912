package access

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/language"
	"signalbox/internal/redact"
)

// Config is what a Guard needs. Settings and Folder are required.
type Config struct {
	// Settings returns the user's settings as they are now: a role that was taken away is gone with the next request.
	Settings func() (config.Serve, error)
	// Folder is where sessions, share links, their key and the record of acts are kept: the user's alone, outside every repository.
	Folder string
	// Local is the user that a one-time address logs in. The zero User has none.
	Local User
	// SignOn is the provider that says who users are; nil for none.
	SignOn   SignOn
	Language language.Language
	// Patience is how long a client may take to send a header or a body, or to read; 0 means 30 seconds.
	Patience time.Duration
	Redact   *redact.Redactor
	Log      *slog.Logger
	// Now is the clock; nil is the system's.
	Now func() time.Time
}

// SignOn is a provider that says who a user is.
type SignOn interface {
	// Address is where the browser goes to log in.
	Address(ctx context.Context, l Login) (string, error)
	// Identify asks who logged in, by the code with which the browser comes back.
	Identify(ctx context.Context, l Login, code string) (Identity, error)
}

// Login is one login at a provider.
type Login struct {
	// State, Nonce and Verifier bind what comes back to the browser that began.
	State, Nonce, Verifier string
	// Back is the address to which the provider sends the browser.
	Back string
}

// Identity is who a provider says that a user is. Email is a verified address, or empty.
type Identity struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject"`
	Email   string   `json:"email,omitempty"`
	Groups  []string `json:"groups,omitempty"`
}

// Guard lets only known users through, and only requests that their browser meant to send.
type Guard struct {
	Config
	crossOrigin *http.CrossOriginProtection
	book        *book
	audit       *Audit
	tokens      *tokens
	requests    counter
}

// New returns a Guard.
func New(c Config) (*Guard, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Patience == 0 {
		c.Patience = patience
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if _, err := c.Settings(); err != nil {
		return nil, err
	}
	audit, err := openAudit(c.Folder, c.Redact, c.Now)
	if err != nil {
		return nil, err
	}
	return &Guard{Config: c, crossOrigin: http.NewCrossOriginProtection(), book: &book{folder: c.Folder, now: c.Now}, audit: audit, tokens: newTokens()}, nil
}

// Audit returns the record of what users do.
func (g *Guard) Audit() *Audit { return g.audit }

// Close closes the record.
func (g *Guard) Close() error { return g.audit.file.Close() }

// Protect lets only users through. It serves the login itself, and the user's own page: /login, /logout, /enter, /share and /account.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return g.admit(func(w http.ResponseWriter, r *http.Request, s *config.Serve) {
		if g.serve(w, r, s) {
			return
		}
		u, page, err := g.user(r, s)
		switch {
		case err != nil:
			g.challenge(w, r, err)
		case u.Only != "" && !shows(page, r) && r.URL.Path != accountPath:
			http.Error(w, "this link shows one run alone", http.StatusForbidden)
		default:
			g.busy(w, "user "+u.Name, maxRequests, func() {
				if r := r.WithContext(g.lasting(g.acting(r, u), r, u)); !g.serveAccount(w, r, u) {
					next.ServeHTTP(w, r)
				}
			})
		}
	}, maxBody)
}

// lasting is ctx with what Still asks: whether the request would be its user's if it came now.
func (g *Guard) lasting(ctx context.Context, r *http.Request, u User) context.Context {
	return context.WithValue(ctx, stillKey{}, func() bool {
		s, err := g.Settings()
		if err != nil {
			return false
		}
		now, _, err := g.user(r, &s)
		return err == nil && now == u
	})
}

// shows reports whether a request only looks at a share link's page, at what is below it, or at what pages are made of. That it is of the link's run is
// the page's to check: a path may show another run later.
func shows(page string, r *http.Request) bool {
	page, _, _ = strings.Cut(page, "?")
	at := r.URL.Path
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !upgrades(r) && path.Clean(at) == at &&
		(at == page || strings.HasPrefix(at, strings.TrimSuffix(page, "/")+"/") || strings.HasPrefix(at, assets))
}

// assets is where pages have their scripts and styles.
const assets = "/assets/"

// errNoUser is the answer to a request without a login.
var errNoUser = errors.New("log in first")

// user returns the user who makes a request: by a token, a session or a share link, of which page is the page.
func (g *Guard) user(r *http.Request, s *config.Serve) (u User, page string, err error) {
	if given := r.Header.Get("Authorization"); given != "" {
		kind, token, _ := strings.Cut(given, " ")
		if !strings.EqualFold(kind, "Bearer") {
			return u, "", errNoUser
		}
		if u, right := g.tokens.remembered(s, strings.TrimSpace(token)); right {
			return u, "", nil
		}
		client := wayOf(r).client
		if !g.requests.take(client, most(client, maxUnknown, maxUnknownLoopback)) {
			return u, "", errTooMany
		}
		defer g.requests.give(client)
		u, err = g.tokenUser(r.Context(), s, strings.TrimSpace(token), client)
		return u, "", err
	}
	if u = g.sessionUser(r, s); u.May(Viewer) {
		return u, "", nil
	}
	if text := g.cookie(r, shareCookie); text != "" {
		if l, works := g.link(r.Context(), text); works {
			return User{Name: "share link " + l.ID, Role: Viewer, Only: l.Run}, l.Page, nil
		}
	}
	return User{}, "", errNoUser
}

// challenge asks for a login: a person on a page, a program by a header.
func (g *Guard) challenge(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, errTooMany):
		g.fails(w, r, err)
	case errors.Is(err, errNoUser) && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" { // a link from elsewhere, with which the cookie doesn't come: the next request is ours, and it does
			g.lead(w, r, local(r.URL.RequestURI()))
			return
		}
		http.Redirect(w, r, loginPath+"?next="+url.QueryEscape(local(r.URL.RequestURI())), http.StatusSeeOther)
	default:
		if errors.Is(err, errRefused) {
			g.record(r, User{}, "login", "a token in a request", err)
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="signalbox"`)
		http.Error(w, err.Error(), http.StatusUnauthorized)
	}
}

// Public lets everyone through whose request is meant for this server and small enough: for webhooks, /healthz and metrics.
func (g *Guard) Public(next http.Handler, most int64) http.Handler {
	return g.admit(func(w http.ResponseWriter, r *http.Request, _ *config.Serve) {
		g.limited(w, r, func() { next.ServeHTTP(w, r) })
	}, most)
}

func (g *Guard) admit(next func(http.ResponseWriter, *http.Request, *config.Serve), most int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := g.Settings()
		if err != nil {
			g.Log.Error("read the settings of serve; all requests are refused until they can be read", "err", err)
			http.Error(w, "the settings of serve can't be read", http.StatusServiceUnavailable)
			return
		}
		r = arrived(r, &s)
		setHeaders(w.Header(), wayOf(r).secure)
		if status, why := g.refuses(r, &s); why != "" {
			http.Error(w, why, status)
			return
		}
		paced := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), until: func() time.Time { return g.Now().Add(g.Patience) }}
		if r.Body != nil && r.Body != http.NoBody {
			_ = paced.control.SetReadDeadline(paced.until()) // of the body alone: net/http ends it with the body
			r.Body = http.MaxBytesReader(w, r.Body, most)
		}
		next(paced, r, &s)
	})
}

// refuses says why a request isn't answered: it was sent to another name than ours, or by a page of another site.
func (g *Guard) refuses(r *http.Request, s *config.Serve) (status int, why string) {
	if !serves(r.Host, s) {
		return http.StatusMisdirectedRequest, "this server doesn't have that name: add it to serve.names"
	}
	if g.crossOrigin.Check(r) != nil {
		return http.StatusForbidden, "another site sent this request"
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return http.StatusForbidden, "another site sent this request"
	}
	if upgrades(r) {
		if scheme, host, _ := strings.Cut(r.Header.Get("Origin"), "://"); host != r.Host || (scheme == "https") != wayOf(r).secure {
			return http.StatusForbidden, "another site sent this request"
		}
	}
	return 0, ""
}

// upgrades reports whether a request asks for a WebSocket, or any other protocol on its connection.
func upgrades(r *http.Request) bool {
	return r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect
}

// way is how a request came here: whether the browser sees TLS, and from which client.
type way struct {
	secure bool
	client string
}

type wayKey struct{}

// arrived keeps a request's way with it. A name of ours at a server of this machine without a certificate is a proxy's, which has one: the proxy says
// which client it is.
func arrived(r *http.Request, s *config.Serve) *http.Request {
	at := way{secure: r.TLS != nil, client: clientOf(r.RemoteAddr)}
	if !at.secure && s.TLS.Certificate == "" && slices.Contains(s.Names, hostOf(r.Host)) {
		at.secure = true
		passed := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
		if last := strings.TrimSpace(passed[strings.LastIndexByte(passed, ',')+1:]); net.ParseIP(last) != nil { // the proxy adds its own at the end
			at.client = clientOf(net.JoinHostPort(last, "0"))
		}
	}
	return r.WithContext(context.WithValue(r.Context(), wayKey{}, at))
}

func wayOf(r *http.Request) way {
	at, _ := r.Context().Value(wayKey{}).(way)
	return at
}

// hostOf is the host in a Host header.
func hostOf(name string) string {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = strings.Trim(name, "[]")
	}
	return strings.ToLower(host)
}

// serves reports whether we have a name: one that another site's DNS leads here is not ours.
func serves(name string, s *config.Serve) bool {
	host := hostOf(name)
	if slices.Contains(s.Names, host) {
		return true
	}
	at, _, _ := net.SplitHostPort(s.Listen)
	if ip := net.ParseIP(host); ip != nil && ip.Equal(net.ParseIP(at)) {
		return true
	}
	return s.Loopback() && (host == "localhost" || host == "127.0.0.1" || host == "::1")
}

const (
	// maxBody is the largest body of a request of a page, maxHeaders the largest header, in bytes.
	maxBody    = 1 << 20
	maxHeaders = 32 << 10
	patience   = 30 * time.Second
	// maxStreams is how many requests one connection of HTTP/2 may have at a time. A browser has a single connection for all its windows, each of which
	// follows events: HTTP/1.1, with which a browser has six, would let no seventh window load.
	maxStreams = 64
	// idleTime is how long a connection may wait for its next request.
	idleTime = 2 * time.Minute
)

// policy lets a page load from this server alone, and run and show nothing that is written into the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"worker-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"

// setHeaders sets what every answer has. A handler may set Cache-Control for what is no page.
func setHeaders(h http.Header, secure bool) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// Server returns a server for a handler, with limits for clients that are slow or many. It cuts no stream that is read.
func (g *Guard) Server(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: g.Patience, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReadFrameSize: 16 << 10, MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 256 << 10},
		ErrorLog: slog.NewLogLogger(g.Log.Handler(), slog.LevelDebug)}
}

// pacedWriter cuts a client that doesn't read.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	// until is when a client that doesn't read is cut.
	until func() time.Time
}

func (p *pacedWriter) Write(data []byte) (int, error) {
	_ = p.control.SetWriteDeadline(p.until())
	return p.ResponseWriter.Write(data)
}

// Flush implements http.Flusher.
func (p *pacedWriter) Flush() {
	_ = p.control.SetWriteDeadline(p.until())
	_ = p.control.Flush()
}

// Unwrap lets a ResponseController find the connection.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
