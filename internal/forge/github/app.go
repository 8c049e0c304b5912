package github

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

const (
	// jwtBackdate makes up for a clock that is a little fast: GitHub refuses a JWT from the future.
	jwtBackdate = time.Minute
	// jwtLife is the longest that GitHub accepts, counted from the time of issue in the JWT.
	jwtLife = 10 * time.Minute
	// renewBefore is how long before its end an installation's token is replaced, so that no call outlives its token.
	renewBefore = 5 * time.Minute
)

// App is a GitHub App that is installed in the repository.
type App struct {
	// ID is the App's client id, or its number.
	ID string
	// Installation is the installation's number; 0 has GitHub asked for the repository's.
	Installation int64
	Key          *rsa.PrivateKey
}

// ReadKey reads an App's private key as GitHub hands it out: PEM, PKCS #1 or #8.
func ReadKey(file string) (*rsa.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the App's key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("read the App's key: %s is no PEM file", file)
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("read the App's key: %s has no RSA key", file) // err could quote the key
	}
	return key, nil
}

// installation renews the token of an App's installation. The token reaches this one repository only.
type installation struct {
	app         App
	owner, name string
	// transport authenticates as the App itself.
	transport *rest.Transport
	now       func() time.Time

	mu      sync.Mutex
	current string
	expires time.Time
}

func newInstallation(app *App, s *Server) (*installation, error) {
	if app.ID == "" || app.Key == nil {
		return nil, errors.New("a GitHub App needs its id and its key")
	}
	i := &installation{app: *app, owner: s.owner, name: s.name, now: s.now}
	// A refused JWT is made anew: the refusal's Date header tells how far this machine's clock is off.
	i.transport = s.transport.As(i.jwt, func(string) {})
	return i, nil
}

// serverTime is the present by GitHub's clock, as far as its answers have shown it.
func (i *installation) serverTime() time.Time {
	return i.now().Add(i.transport.Skew())
}

// jwt is the App's own credential.
func (i *installation) jwt(context.Context) (string, error) {
	issued := i.serverTime().Add(-jwtBackdate)
	claims, err := json.Marshal(map[string]any{"iss": i.app.ID, "iat": issued.Unix(), "exp": issued.Add(jwtLife).Unix()})
	if err != nil {
		return "", fmt.Errorf("encode the App's token: %w", err)
	}
	signed := encoded([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encoded(claims)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.app.Key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign the App's token: %w", err)
	}
	return signed + "." + encoded(signature), nil
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token returns the installation's token, a new one if the present one ends soon.
func (i *installation) token(ctx context.Context) (string, error) {
	ctx = forge.Recent(ctx, 0) // what is asked with the token may be older than the token
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current != "" && i.expires.Sub(i.serverTime()) > renewBefore {
		return i.current, nil
	}
	if i.app.Installation == 0 {
		var found struct{ ID int64 }
		if _, err := i.transport.Do(ctx, rest.Call{Method: http.MethodGet, Path: "installation", Out: &found}); err != nil {
			return "", fmt.Errorf("find the App's installation in %s/%s: %w", i.owner, i.name, i.transport.Judged(err))
		}
		i.app.Installation = found.ID
	}
	var made struct {
		Token     string
		ExpiresAt time.Time `json:"expires_at"`
	}
	if _, err := i.transport.Do(ctx, rest.Call{
		Method: http.MethodPost, Root: "app/installations", Path: "%d/access_tokens", Args: []any{i.app.Installation},
		In: map[string]any{"repositories": []string{i.name}}, Out: &made,
	}); err != nil {
		return "", fmt.Errorf("renew the token of the App's installation: %w", i.transport.Judged(err))
	}
	i.current, i.expires = made.Token, made.ExpiresAt
	return i.current, nil
}

// forget drops a token that was refused before its end: an installation that was suspended, or a key that was replaced.
func (i *installation) forget(token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current == token {
		i.current = ""
	}
}
