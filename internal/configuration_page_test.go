package layering_test

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/health"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// setting is one key of the configuration, as a row of docs/configuration.md says it.
type setting struct{ key, kind, usual, trust string }

// Each key of the configuration has a row on its page, with the type, the default and the need of trust that the code has; and no other key has one.
func TestTheConfigurationPageSaysWhatTheCodeDoes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]setting{}
	for _, found := range settingRow.FindAllStringSubmatch(string(page), -1) {
		key := ownWord.ReplaceAllString(found[1], "*")
		if _, twice := rows[key]; twice {
			t.Errorf("%s has two rows", key)
		}
		rows[key] = setting{key, found[2], found[3], found[4]}
	}
	check := func(s setting) {
		row, there := rows[s.key]
		delete(rows, s.key)
		switch {
		case !there:
			t.Errorf("%s has no row; want | `%s` | %s | %s | … | …|", s.key, s.key, s.kind, s.usual)
		case row.kind != s.kind || row.usual != s.usual:
			t.Errorf("%s is said to be %s with the default %s; it is %s with the default %s", s.key, row.kind, row.usual, s.kind, s.usual)
		case s.kind != "as `roles`":
			if wrong := trustIs(s.key, row.trust); wrong != "" {
				t.Errorf("%s is said to need trust %q: %s", s.key, row.trust, wrong)
			}
		}
	}
	settings(reflect.TypeFor[config.Config](), reflect.ValueOf(config.Default()), "", check)
	settings(reflect.TypeFor[config.User](), reflect.ValueOf(config.DefaultUser()), "", check)
	for key := range rows {
		t.Errorf("the page has a row for %s, which is no key", key)
	}
}

var (
	settingRow = regexp.MustCompile("(?m)^\\| `([a-zA-Z0-9_.\\[\\]]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\| [^|]+ \\|$")
	// ownWord is a word of the file's author in a key.
	ownWord = regexp.MustCompile(`\b[A-Z]+\b`)
)

// settings visits each key below a type. usual is the value that it has in a project without a file.
func settings(in reflect.Type, usual reflect.Value, key string, visit func(setting)) {
	switch kind := in.Kind(); {
	case kind == reflect.Struct:
		for i := range in.NumField() {
			field, below := in.Field(i), reflect.Value{}
			if usual.IsValid() {
				below = usual.Field(i)
			}
			settings(field.Type, below, strings.TrimPrefix(key+"."+cmp.Or(field.Tag.Get("yaml"), strings.ToLower(field.Name)), "."), visit)
		}
	case in == reflect.TypeFor[map[string]config.Role]() && key != "roles":
		visit(setting{key: key, kind: "as `roles`", usual: "–"})
	case kind == reflect.Map:
		settings(in.Elem(), reflect.Value{}, key+".*", visit)
	case kind == reflect.Slice && in.Elem().Kind() == reflect.Struct:
		settings(in.Elem(), reflect.Value{}, key+"[]", visit)
	default:
		visit(setting{key: key, kind: kindOf(in), usual: usualOf(key, in, usual)})
	}
}

func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[config.Lines]():
		return "lines"
	case reflect.TypeFor[config.Bytes]():
		return "size"
	case reflect.TypeFor[time.Duration]():
		return "time"
	case reflect.TypeFor[*bool]():
		return "true or false"
	}
	kinds := map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Int: "whole number", reflect.Int64: "whole number",
		reflect.Float64: "number", reflect.Slice: "list of texts"}
	return kinds[t.Kind()]
}

// derived are defaults that an empty setting gets where it is used.
var derived = map[string]string{
	"forge.url":            "the server of `origin`",
	"forge.repository":     "the repository of `origin`",
	"forge.token":          "the driver's usual variables",
	"agents.*.prompt":      "`" + config.PromptStdin + "`",
	"agents.*.program":     "the agent's usual program",
	"agents.*.model":       "the agent's own default",
	"agents.*.permissions": "`" + config.PermissionsEverything + "`; without a sandbox `" + config.PermissionsEdits + "`",
	"agents.*.login":       "`" + config.LoginKey + "` if there is one, otherwise `" + config.LoginOwn + "`",
	"agents.*.key":         "the vendor's usual variable",
	"agents.*.url":         "the vendor's server",
	"roles.*.agent":        "the only agent of the file",
	"roles.*.model":        "the agent's",
	"roles.*.permissions":  "the agent's",

	"health.every":               "`" + shortTime(health.Interval) + "`",
	"health.checks[].severity":   "`" + config.SeverityMajor + "`",
	"health.checks[].method":     "`GET`",
	"health.checks[].status":     "`200`",
	"health.checks[].time_limit": "`1m`; for `branch-tests` `limits.test_total` for each command",
	"health.checks[].confirm":    "`true`",
}

// usualOf is the default as the page says it.
func usualOf(key string, t reflect.Type, usual reflect.Value) string {
	if text, is := derived[key]; is {
		return text
	}
	if name, is := strings.CutPrefix(key, "limits."); is {
		if text := usualLimit(name); text != "" {
			return text
		}
	}
	switch {
	case t.Kind() == reflect.Bool:
		return fmt.Sprintf("`%t`", usual.IsValid() && usual.Bool())
	case !usual.IsValid() || usual.IsZero():
		return "–"
	case t == reflect.TypeFor[config.Lines]():
		return "`" + strings.Join(usual.Interface().(config.Lines), ", ") + "`"
	case t == reflect.TypeFor[config.Bytes]():
		return fmt.Sprintf("`%dG`", usual.Int()>>30)
	}
	return fmt.Sprintf("`%v`", usual.Interface())
}

// usualLimit is what a run gets where the file does not name this limit. Which field of the run's limits it is shows by setting it.
func usualLimit(name string) string {
	var set config.Limits
	field, ok := fieldOf(reflect.ValueOf(&set).Elem(), name)
	if !ok {
		return ""
	}
	const odd = 977 // no default is this
	isTime := field.Type() == reflect.TypeFor[time.Duration]()
	switch {
	case isTime:
		field.SetInt(int64(odd * time.Second))
	case field.CanInt():
		field.SetInt(odd)
	default:
		return ""
	}
	given, usual := reflect.ValueOf(wire.Limits(set)), reflect.ValueOf(workflow.DefaultLimits())
	for i := range given.NumField() {
		at := given.Field(i)
		if !at.CanInt() || at.Int() != odd || usual.Field(i).Int() == 0 {
			continue
		}
		if isTime {
			return "`" + shortTime(time.Duration(usual.Field(i).Int())*time.Second) + "`"
		}
		return "`" + strconv.FormatInt(usual.Field(i).Int(), 10) + "`"
	}
	return ""
}

func fieldOf(in reflect.Value, name string) (reflect.Value, bool) {
	for i := range in.NumField() {
		if in.Type().Field(i).Tag.Get("yaml") == name {
			return in.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// shortTime is a time as people write it: 1h30m, not 1h30m0s.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// trustIs says what is wrong with the page's words on when a setting needs agreement; empty if nothing is.
func trustIs(key, said string) string {
	word := ""
	if found := quotedWord.FindStringSubmatch(said); found != nil {
		word = found[1]
	}
	type probe struct {
		value              string
		unsandboxed, start bool
		want               bool
	}
	var probes []probe
	switch {
	case said == "yes":
		probes = []probe{{value: "x", want: true}, {value: "x", start: strings.HasPrefix(key, "health.checks"), want: true}}
	case said == "no":
		probes = []probe{{value: "x"}, {value: "x", unsandboxed: true}}
	case said == "only without a sandbox":
		probes = []probe{{value: "x"}, {value: "x", unsandboxed: true, want: true}}
	case said == "yes, unless `start` is set":
		probes = []probe{{value: "x", want: true}, {value: "x", start: true}}
	case strings.HasPrefix(said, "if it's `") && strings.HasSuffix(said, ", only without a sandbox"):
		probes = []probe{{value: word}, {value: word, unsandboxed: true, want: true}, {value: "x", unsandboxed: true}}
	case strings.HasPrefix(said, "if it's `"):
		probes = []probe{{value: word, want: true}, {value: "x"}}
	case strings.HasPrefix(said, "if it isn't `"):
		probes = []probe{{value: word}, {value: "x", want: true}}
	default:
		return "these words mean nothing to this test"
	}
	for _, p := range probes {
		c := config.Config{}
		put(reflect.ValueOf(&c).Elem(), strings.Split(strings.ReplaceAll(key, "[]", ".[]"), "."), p.value)
		if p.start {
			c.Health.Checks[0].Start = "x"
		}
		found := slices.ContainsFunc(c.Reaches(p.unsandboxed), func(r config.Reach) bool {
			return strings.ReplaceAll(r.Key, "[1]", "[]") == strings.ReplaceAll(key, "*", "x")
		})
		if found != p.want {
			return fmt.Sprintf("with the value %q (no sandbox: %t) it is asked about: %t", p.value, p.unsandboxed, found)
		}
	}
	return ""
}

var quotedWord = regexp.MustCompile("`([^`]+)`")

// put gives the setting at a path a value, as the text where it is a text.
func put(in reflect.Value, path []string, value string) {
	if len(path) > 0 {
		switch {
		case in.Kind() == reflect.Map:
			below := reflect.New(in.Type().Elem()).Elem()
			put(below, path[1:], value)
			in.Set(reflect.MakeMap(in.Type()))
			in.SetMapIndex(reflect.ValueOf("x"), below)
		case in.Kind() == reflect.Slice:
			in.Set(reflect.MakeSlice(in.Type(), 1, 1))
			put(in.Index(0), path[1:], value)
		default:
			for i := range in.NumField() {
				if field := in.Type().Field(i); cmp.Or(field.Tag.Get("yaml"), strings.ToLower(field.Name)) == path[0] {
					put(in.Field(i), path[1:], value)
				}
			}
		}
		return
	}
	switch kind := in.Kind(); {
	case kind == reflect.String:
		in.SetString(value)
	case kind == reflect.Slice:
		in.Set(reflect.MakeSlice(in.Type(), 1, 1))
		put(in.Index(0), nil, value)
	case kind == reflect.Pointer:
		in.Set(reflect.New(in.Type().Elem()))
		put(in.Elem(), nil, value)
	case kind == reflect.Bool:
		in.SetBool(true)
	case in.CanFloat():
		in.SetFloat(1)
	default:
		in.SetInt(int64(time.Hour))
	}
}
