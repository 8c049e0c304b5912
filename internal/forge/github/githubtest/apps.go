package githubtest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// jwtProblem says why GitHub would refuse a JWT; empty if it would not.
func (st *State) jwtProblem(jwt string) string {
	parts := strings.Split(jwt, ".")
	if st.AppKey == nil || len(parts) != 3 {
		return "A JSON web token could not be decoded"
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(st.AppKey, crypto.SHA256, digest[:], signature) != nil {
		return "A JSON web token could not be decoded"
	}
	var claims struct {
		Iss      string
		Iat, Exp int64
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if json.Unmarshal(text, &claims) != nil || claims.Iss != st.AppID {
		return "Integration not found"
	}
	now := st.Now.Unix()
	switch {
	case claims.Iat > now:
		return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	case claims.Exp <= now:
		return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case claims.Exp-claims.Iat > 600:
		return "'Expiration time' claim ('exp') is too far in the future"
	}
	return ""
}

func getInstallation(c *call) {
	if c.st.Installation == 0 {
		c.refuse(404, "Not Found")
		return
	}
	c.send(200, with(c.example(200).(object), object{"id": c.st.Installation, "suspended_at": nil, "suspended_by": nil}))
}

func mintToken(c *call) {
	if strconv.FormatInt(c.st.Installation, 10) != c.r.PathValue("installation_id") {
		c.refuse(404, "Not Found")
		return
	}
	token, end := fmt.Sprintf("ghs_%d", c.st.id()), c.st.Now.Add(time.Hour)
	c.st.Minted[token] = end
	made := with(c.example(201).(object), object{"token": token, "expires_at": stamp(end)})
	delete(made, "repositories")
	c.send(201, made)
}

// appExample is the App of the published example of a check run.
func (c *call) appExample() object {
	return c.published("check-run").(object)["app"].(object)
}
