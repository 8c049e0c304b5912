package oidc_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/access"
	"signalbox/internal/access/oidc"
	"signalbox/internal/config"
	"signalbox/internal/redact"
)

// provider is a provider of OpenID Connect that checks what a client sends. Its answers can be spoilt.
type provider struct {
	*httptest.Server
	testing.TB
	mu     sync.Mutex
	key    *rsa.PrivateKey
	kid    string
	grants map[string]url.Values // by code: what the browser was sent with
	// user are the claims of who logs in. sign signs a token; nil as it should be.
	user map[string]any
	sign func(claims map[string]any) string
	down bool
	// asked counts codes that were to be exchanged.
	asked int
}

var keys = sync.OnceValue(func() (two [2]*rsa.PrivateKey) {
	for i := range two {
		two[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return two
})

func newProvider(t *testing.T) *provider {
	p := &provider{TB: t, key: keys()[0], kid: "1", grants: map[string]url.Values{}, user: map[string]any{"sub": "s-1", "email": "anna@example.com", "email_verified": true, "groups": []string{"dev"}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		if p.down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		p.answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answer(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": p.kid,
			"n": text(p.key.N.Bytes()), "e": text([]byte{1, 0, 1})}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("response_type") != "code" || q.Get("client_id") != "box" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" ||
			!strings.Contains(q.Get("scope"), "openid") {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		code := rand.Text()
		p.mu.Lock()
		p.grants[code] = q
		p.mu.Unlock()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	q, there := p.grants[r.FormValue("code")]
	delete(p.grants, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	if !there || text(sum[:]) != q.Get("code_challenge") || r.FormValue("redirect_uri") != q.Get("redirect_uri") || id != "box" || secret != "hush" {
		w.WriteHeader(http.StatusBadRequest)
		p.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": "box", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(), "nonce": q.Get("nonce")}
	maps.Copy(claims, p.user)
	sign := p.sign
	if sign == nil {
		sign = func(c map[string]any) string { return signed(p.key, p.kid, c) }
	}
	p.answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": sign(claims)})
}

func (p *provider) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.Error(err)
	}
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// unsigned is the part of a token that is signed.
func unsigned(alg, kid string, claims map[string]any) string {
	head, _ := json.Marshal(map[string]any{"alg": alg, "kid": kid, "typ": "JWT"})
	body, _ := json.Marshal(claims)
	return text(head) + "." + text(body)
}

func signed(key *rsa.PrivateKey, kid string, claims map[string]any) string {
	t := unsigned("RS256", kid, claims)
	sum := sha256.Sum256([]byte(t))
	s, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return t + "." + text(s)
}

// box is serve with such a provider.
type box struct {
	testing.TB
	*httptest.Server
	mu       sync.Mutex
	settings config.Serve
}

func newBox(t *testing.T, p *provider) *box {
	b := &box{TB: t, settings: config.DefaultUser().Serve}
	b.settings.OIDC = config.ServeOIDC{Issuer: p.URL, Client: "box", Groups: "groups", Operators: []string{"email:anna@example.com"}, Viewers: []string{"group:dev"}, Approvers: []string{"subject:s-2"}}
	guard, err := access.New(access.Config{Folder: t.TempDir(), Redact: redact.New(nil), SignOn: oidc.New(b.settings.OIDC, "hush", http.DefaultTransport, time.Now),
		Settings: func() (config.Serve, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.settings, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	b.Server = httptest.NewServer(guard.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := access.From(r.Context())
		_, _ = io.WriteString(w, u.Name+" "+u.Role.String())
	})))
	t.Cleanup(func() { b.Close(); _ = guard.Close() })
	return b
}

// browser follows redirections, as one does.
func (b *box) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func (b *box) gets(c *http.Client, address string) (status int, text string) {
	b.Helper()
	response, err := c.Get(address)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return response.StatusCode, string(data)
}

func TestAProviderSaysWhoAUserIsAndTheSettingsWhatTheyMay(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.down = true
	b := newBox(t, p)
	c := b.browser()
	if status, _ := b.gets(c, b.URL+"/login/provider"); status != http.StatusInternalServerError {
		t.Errorf("without the provider: %d", status)
	}
	p.down = false
	status, page := b.gets(c, b.URL+"/login/provider?next=/runs/R1")
	if status != http.StatusOK || !strings.Contains(page, "url=/runs/R1") {
		t.Fatalf("%d %s", status, page)
	}
	if _, text := b.gets(c, b.URL+"/"); text != "anna@example.com operator" {
		t.Errorf("logged in as %q", text)
	}
	b.mu.Lock()
	b.settings.OIDC.Operators = nil
	b.mu.Unlock()
	if _, text := b.gets(c, b.URL+"/"); text != "anna@example.com viewer" {
		t.Errorf("after the role is taken away: %q", text)
	}
	b.mu.Lock()
	b.settings.OIDC.Issuer = "https://other.example.org"
	b.mu.Unlock()
	if status, text := b.gets(c, b.URL+"/"); status != http.StatusUnauthorized {
		t.Errorf("of a provider that no longer counts: %q", text)
	}
	b.mu.Lock()
	b.settings.OIDC.Issuer = p.URL
	b.mu.Unlock()
	p.mu.Lock()
	p.key, p.kid = keys()[1], "2" // the provider rotates its keys
	p.user = map[string]any{"sub": "s-2", "email": "anna@example.com", "email_verified": "false", "groups": "dev"}
	p.mu.Unlock()
	other := b.browser()
	b.gets(other, b.URL+"/login/provider")
	if _, text := b.gets(other, b.URL+"/"); text != "s-2 approver" {
		t.Errorf("the other is %q", text)
	}
}

func TestALoginAtAProviderThatIsNotWhatItShouldBeIsRefused(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := newBox(t, p)
	edited := func(key string, value any) func(map[string]any) string {
		return func(c map[string]any) string { c[key] = value; return signed(p.key, p.kid, c) }
	}
	for name, sign := range map[string]func(map[string]any) string{
		"for another login":   edited("nonce", "x"),
		"for another client":  edited("aud", "other"),
		"of another issuer":   edited("iss", "https://evil.example.org"),
		"that has ended":      edited("exp", time.Now().Add(-time.Minute).Unix()),
		"by another key":      func(c map[string]any) string { return signed(keys()[1], p.kid, c) },
		"without a signature": func(c map[string]any) string { return unsigned("none", p.kid, c) + "." },
		"by the public key as a secret": func(c map[string]any) string {
			t := unsigned("HS256", p.kid, c)
			mac := hmac.New(sha256.New, p.key.N.Bytes())
			mac.Write([]byte(t))
			return t + "." + text(mac.Sum(nil))
		},
		"that is none": func(map[string]any) string { return "x" },
		"of no role": func(c map[string]any) string {
			c["email"], c["groups"] = "eve@example.com", []string{"others"}
			return signed(p.key, p.kid, c)
		},
		"with an address that anyone could claim": func(c map[string]any) string {
			c["email_verified"], c["groups"] = false, nil
			return signed(p.key, p.kid, c)
		},
	} {
		p.sign = sign
		c := b.browser()
		if status, page := b.gets(c, b.URL+"/login/provider"); status != http.StatusForbidden {
			t.Errorf("a token %s: %d %s", name, status, page)
		}
		if status, text := b.gets(c, b.URL+"/"); status != http.StatusUnauthorized {
			t.Errorf("a token %s logs in: %q", name, text)
		}
	}
	p.sign = nil

	// The thief begins a login, and has the victim's browser end it; or ends the victim's with a code of their own.
	stops := func() *http.Client {
		c := b.browser()
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), b.URL) {
				return http.ErrUseLastResponse
			}
			return nil
		}
		return c
	}
	back := func(c *http.Client) string {
		response, err := c.Get(b.URL + "/login/provider")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if kept := response.Request.Response.Header.Get("Set-Cookie"); !strings.Contains(kept, "SameSite=Lax") || !strings.Contains(kept, "HttpOnly") {
			t.Errorf("the browser comes back from another site with %q", kept) // Strict would not be sent
		}
		return response.Header.Get("Location")
	}
	thief, victim := stops(), stops()
	stolen, own := back(thief), back(victim)
	asked := p.asked
	for name, attack := range map[string]struct {
		c  *http.Client
		at string
	}{"in another browser": {b.browser(), stolen}, "beside another login": {victim, stolen}, "without a state": {thief, b.URL + "/login/provider/back?code=x"},
		"that was refused": {stops(), b.URL + "/login/provider/back?error=%3Cscript%3E"}} {
		if status, page := b.gets(attack.c, attack.at); status != http.StatusForbidden || strings.Contains(page, "<script") {
			t.Errorf("a login %s: %d %s", name, status, page)
		}
	}
	if status, _ := b.gets(victim, own); status != http.StatusForbidden { // the cookie went with the attack: a login has one end
		t.Errorf("a login that was disturbed ends with %d", status)
	}
	if p.asked != asked {
		t.Error("the provider is asked about a code that another browser got")
	}
	c := stops()
	own = back(c)
	if status, _ := b.gets(c, own); status != http.StatusOK {
		t.Errorf("an undisturbed login ends with %d", status)
	}
	if status, _ := b.gets(c, own); status != http.StatusForbidden {
		t.Errorf("the same end again: %d", status)
	}
	p.sign = func(map[string]any) string { return "x" }
	status := 0
	for range 3 { // on top of those above
		status, _ = b.gets(b.browser(), b.URL+"/login/provider")
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("a client that guesses on gets %d", status)
	}
}
