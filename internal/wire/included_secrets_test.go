package wire

import (
	"slices"
	"testing"
)

func TestSecretsAreFoundInTheFilesThatAreBroughtToAgents(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"API_TOKEN=abcdefgh":                      {"abcdefgh"},
		"export DB_PASSWORD='a b c d e'":          {"a b c d e"},
		"SETTING=a1b2c3d4e5f6a7b8":                {"a1b2c3d4e5f6a7b8"},
		"DATABASE=postgres://ada:lovelace@db/one": {"lovelace"},
		"secret: \"xyzxyz\"":                      {"xyzxyz"},
		"MIIEowIBAAKCAQEA7bq2mAc5":                {"MIIEowIBAAKCAQEA7bq2mAc5"},
		"PORT=8080":                               nil,
		"NODE_ENV=development":                    nil,
		"NAME=a sentence of 12 words and more":    nil,
		"# API_TOKEN=abcdefgh":                    nil,
		"":                                        nil,
		"[section]":                               nil,
	} {
		if got := SecretsOfLine(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
