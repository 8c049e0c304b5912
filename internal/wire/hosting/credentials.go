package hosting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/process"
)

// usual are the variables that usually hold a driver's token, the first set one counts. As GitHub's own program does, tokens for github.com go
// nowhere else: a repository's configuration could name any server.
func usual(driver, host string) []string {
	switch {
	case driver == config.ForgeGitea:
		return []string{"GITEA_TOKEN"}
	case driver == config.ForgeGitLab:
		return []string{"GITLAB_TOKEN"}
	case host == "github.com" || strings.HasSuffix(host, ".ghe.com"):
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	}
	return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
}

// credentialsOf names what the configuration asks for.
func credentialsOf(c config.Forge, host string, env func(string) string) perform.Access {
	switch {
	case c.App.ID != "":
		return perform.Access{}
	case c.Login == config.ForgeLoginGH, c.Login == config.ForgeLoginGlab:
		return perform.Access{Program: []string{c.Login, "auth", "login", "--hostname", host}}
	case c.Token != "":
		return perform.Access{Variable: c.Token}
	}
	names := usual(c.Driver, host)
	for _, name := range names {
		if env(name) != "" {
			return perform.Access{Variable: name}
		}
	}
	return perform.Access{Variable: names[len(names)-1]}
}

// token returns what gives the driver its token.
func (c Config) token(k perform.Access, host string) func(context.Context) (string, error) {
	if len(k.Program) > 0 {
		return c.ofProgram(k, host)
	}
	return func(context.Context) (string, error) {
		if value := strings.TrimSpace(c.Env(k.Variable)); value != "" {
			return value, nil
		}
		return "", missing(fmt.Errorf("there is no token for %s: %s is not set", host, k.Variable),
			"set "+k.Variable+" where you start Signalbox; docs/forges.md says which rights the token needs")
	}
}

// jobToken is the variable with the token of a job of GitLab's CI. It is used only if the configuration names it.
const jobToken = "CI_JOB_TOKEN"

// shown is how GitLab is shown a token.
func shown(k perform.Access) gitlab.Shown {
	switch {
	case len(k.Program) > 0:
		return gitlab.Bearer
	case k.Variable == jobToken:
		return gitlab.JobToken
	}
	return gitlab.PrivateToken
}

// missing is the error that there are no credentials.
func missing(err error, hint string) error {
	return &forge.Failure{Kind: forge.Unauthorized, Err: &problem.Error{Err: err, Hint: hint}}
}

// programWait is more than a vendor's program needs to read its own file or keyring.
const programWait = 20 * time.Second

// asking is how a vendor's program is asked for its token.
var asking = map[string][]string{
	config.ForgeLoginGH:   {"gh", "auth", "token", "--hostname"},
	config.ForgeLoginGlab: {"glab", "config", "get", "token", "--host"},
}

// ofProgram asks the vendor's program for the token, once for the life of the process.
func (c Config) ofProgram(k perform.Access, host string) func(context.Context) (string, error) {
	program := k.Program[0]
	var mu sync.Mutex
	known := ""
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != "" {
			return known, nil
		}
		var out bytes.Buffer
		args := append(slices.Clone(asking[program]), host)
		result, err := c.Exec.Exec(ctx, process.Command{Args: args, Dir: os.TempDir(), Env: os.Environ(), Stdout: &out, Total: programWait, OutputLimit: 4 << 10})
		if err == nil && result.ExitCode != 0 {
			err = fmt.Errorf("exit code %d", result.ExitCode) // what it printed may be anything
		}
		token := strings.TrimSpace(out.String())
		if err == nil && token == "" {
			err = errors.New("it printed none")
		}
		if err != nil {
			return "", missing(fmt.Errorf("ask %s for the token for %s: %w", program, host, err), "log in: "+strings.Join(k.Program, " "))
		}
		c.Redact.Add(map[string]string{program + " token": token})
		known = token
		return token, nil
	}
}
