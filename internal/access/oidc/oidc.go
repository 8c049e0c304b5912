// Package oidc asks a provider of OpenID Connect who a user is: by the code flow, with PKCE and a nonce. What the user may do is access's to say.
package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"signalbox/internal/access"
	"signalbox/internal/config"
)

// Provider is a provider. It is asked for its addresses and keys at the first login, so that serve begins without it.
type Provider struct {
	settings config.ServeOIDC
	secret   string
	client   *http.Client
	now      func() time.Time
	mu       sync.Mutex
	found    *oidc.Provider
}

const (
	// answerTime is how long the provider may take, maxAnswer how much it may say, in bytes.
	answerTime = 15 * time.Second
	maxAnswer  = 1 << 20
)

// New returns the provider of the settings. secret is the client's, empty for a public client.
func New(s config.ServeOIDC, secret string, transport http.RoundTripper, now func() time.Time) *Provider {
	return &Provider{settings: s, secret: secret, client: &http.Client{Transport: bounded{transport}, Timeout: answerTime}, now: now}
}

// Address implements access.SignOn.
func (p *Provider) Address(ctx context.Context, l access.Login) (string, error) {
	_, c, err := p.joined(ctx, l)
	if err != nil {
		return "", err
	}
	return c.AuthCodeURL(l.State, oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)), nil
}

// Identify implements access.SignOn.
func (p *Provider) Identify(ctx context.Context, l access.Login, code string) (access.Identity, error) {
	found, c, err := p.joined(ctx, l)
	if err != nil {
		return access.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := c.Exchange(ctx, code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return access.Identity{}, fmt.Errorf("exchange the code at %s: %w", p.settings.Issuer, err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.settings.Client, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return access.Identity{}, fmt.Errorf("verify the ID token of %s: %w", p.settings.Issuer, err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(l.Nonce)) != 1 {
		return access.Identity{}, errors.New("the ID token is for another login")
	}
	return p.identity(id)
}

// identity takes from the token what the settings know users by.
func (p *Provider) identity(id *oidc.IDToken) (access.Identity, error) {
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return access.Identity{}, fmt.Errorf("read the ID token: %w", err)
	}
	who := access.Identity{Issuer: id.Issuer, Subject: id.Subject}
	if claims["email_verified"] == true || claims["email_verified"] == "true" { // some providers write a text
		who.Email, _ = claims["email"].(string)
	}
	switch groups := claims[p.settings.Groups].(type) {
	case string:
		who.Groups = []string{groups}
	case []any:
		for _, g := range groups {
			if name, is := g.(string); is {
				who.Groups = append(who.Groups, name)
			}
		}
	}
	return who, nil
}

// joined returns the provider, and us as its client.
func (p *Provider) joined(ctx context.Context, l access.Login) (*oidc.Provider, *oauth2.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.settings.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("ask %s for its addresses: %w", p.settings.Issuer, err)
		}
		p.found = found
	}
	scopes := append([]string{oidc.ScopeOpenID, "email", "profile"}, p.settings.Scopes...)
	return p.found, &oauth2.Config{ClientID: p.settings.Client, ClientSecret: p.secret, Endpoint: p.found.Endpoint(), RedirectURL: l.Back, Scopes: scopes}, nil
}

// bounded cuts long answers.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxAnswer), response.Body}
	}
	return response, err
}
