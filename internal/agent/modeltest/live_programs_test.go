//go:build agents

package modeltest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// program says how to start one agent headless, with as few retries as it can be configured to.
type program struct {
	name string
	// pieces: it prints every piece of a path as it comes, in which none can be cleaned. Its tools
	// take relative ones.
	pieces bool
	// start writes the program's configuration and returns its arguments and variables.
	start func(t *testing.T, p place) (args, env []string)
}

const (
	liveKey    = "sk-scripted-key"
	livePrompt = "Write the file hello.txt."
)

var programs = []program{
	{name: "claude", start: startClaude}, {name: "codex", start: startCodex}, {name: "opencode", start: startOpencode},
	{name: "pi", start: startPi, pieces: true}, {name: "gemini", start: startGemini},
}

func startClaude(_ *testing.T, p place) (args, env []string) {
	return []string{"-p", livePrompt, "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--model", "claude-sonnet-4-5"},
		[]string{"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=" + liveKey, "CLAUDE_CODE_MAX_RETRIES=2",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
}

func startCodex(_ *testing.T, p place) (args, env []string) {
	provider := `{name="s",base_url="` + p.url + `/v1",env_key="SCRIPTED_KEY",wire_api="responses",` +
		`request_max_retries=0,stream_max_retries=3,stream_idle_timeout_ms=600000}`
	return []string{"exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-m", "gpt-5", "--ignore-user-config",
		"-c", `model_provider="s"`, "-c", "model_providers.s=" + provider, livePrompt}, []string{"SCRIPTED_KEY=" + liveKey}
}

func startOpencode(t *testing.T, p place) (args, env []string) {
	config := filepath.Join(p.home, "opencode.json")
	writeJSON(t, config, map[string]any{
		"model": "s/m1", "small_model": "s/m1", "enabled_providers": []string{"s"},
		"permission": map[string]string{"edit": "allow", "bash": "allow"},
		"provider": map[string]any{"s": map[string]any{
			"npm":     "@ai-sdk/openai-compatible",
			"options": map[string]string{"baseURL": p.url + "/v1", "apiKey": liveKey},
			"models": map[string]any{"m1": map[string]any{"tool_call": true,
				"limit": map[string]int{"context": 200_000, "output": 8_000}, "cost": map[string]float64{"input": 3, "output": 15}}},
		}},
	})
	return []string{"run", "--format", "json", "-m", "s/m1", livePrompt}, []string{"OPENCODE_CONFIG=" + config,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
}

func startPi(t *testing.T, p place) (args, env []string) {
	dir := filepath.Join(p.home, ".pi")
	writeJSON(t, filepath.Join(dir, "models.json"), map[string]any{"providers": map[string]any{"s": map[string]any{
		"baseUrl": p.url, "api": "anthropic-messages", "apiKey": liveKey,
		"models": []any{map[string]any{"id": "m1", "reasoning": false, "input": []string{"text"},
			"cost":          map[string]float64{"input": 3, "output": 15, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": 200_000, "maxTokens": 8_000}},
	}}})
	writeJSON(t, filepath.Join(dir, "settings.json"), map[string]any{"retry": map[string]any{"enabled": true, "maxRetries": 1}})
	return []string{"-p", "--mode", "json", "--provider", "s", "--model", "m1", livePrompt},
		[]string{"PI_CODING_AGENT_DIR=" + dir, "PI_OFFLINE=1", "PI_TELEMETRY=0"}
}

func startGemini(t *testing.T, p place) (args, env []string) {
	writeJSON(t, filepath.Join(p.home, ".gemini", "settings.json"), map[string]any{
		"security": map[string]any{"auth": map[string]string{"selectedType": "gemini-api-key"}},
		"general":  map[string]any{"maxAttempts": 3, "disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy":  map[string]bool{"usageStatisticsEnabled": false},
	})
	return []string{"-p", livePrompt, "-y", "-m", "gemini-2.5-flash", "-o", "stream-json"},
		[]string{"GEMINI_API_KEY=" + liveKey, "GOOGLE_GEMINI_BASE_URL=" + p.url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
