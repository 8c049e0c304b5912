package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script is for a real forge. Here is that it finds nothing failed where nothing is.
func TestTheScriptForALiveForgeFindsAllOKOnGitea(t *testing.T) {
	t.Parallel()
	startGitea(t)
	if err := realGitea.server.Repository(t.Context(), "grace", "live"); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../scripts/forge-live.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", script, "--throw-away", realGitea.server.URL+"/grace/live", "gitea")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "SIGNALBOX=" + program(t), "GITEA_TOKEN=" + realGitea.people["grace"]}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok  ") < 19 || strings.Contains(string(out), "failed") {
		t.Errorf("%v\n%s", err, out)
	}
}
