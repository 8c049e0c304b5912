package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Reach is a setting that affects the machine it is used on, or what its user keeps there: it starts a program, spends a key, opens a path, a
// variable or a host, or merges without asking. A file that came with a repository is untrusted, so such settings count only after the user agreed
// to them.
type Reach struct {
	// Key is the setting's place in the file, as in "agents.claude.url". A list of independent values has one Reach per value, all with the list's
	// key.
	Key   string `json:"key"`
	Value string `json:"value"`
	// Why says what the setting does, for the person who decides.
	Why string `json:"why"`
}

// reachRule says when a setting affects the machine. A setting without a rule always does, so forgetting a rule for a new setting is safe.
type reachRule struct {
	why string
	// when restricts the rule; nil means always.
	when func(reached) bool
	// whole treats a list as one value, because the order of its items matters.
	whole bool
}

// reached is a setting being examined.
type reached struct {
	value reflect.Value
	// in is the struct that contains the setting.
	in          reflect.Value
	unsandboxed bool
}

func is(word string) func(reached) bool {
	return func(r reached) bool { return r.value.String() == word }
}

func not(word string) func(reached) bool {
	return func(r reached) bool { return r.value.String() != word }
}

func never(reached) bool         { return false }
func unsandboxed(r reached) bool { return r.unsandboxed }

// fromHere: this machine itself makes the request, outside of any sandbox.
func fromHere(r reached) bool {
	c, ok := r.in.Interface().(Check)
	return !ok || c.Start == ""
}

func allUnsandboxed(r reached) bool {
	return r.unsandboxed && r.value.String() == PermissionsEverything
}

const (
	runsHere  = "runs on this machine as you: there is no sandbox"
	allows    = "the agent may do this without asking you"
	allowsAll = "the agent may do everything on this machine without asking you"
	arguments = "arguments for the agent's program"
)

var reachRules = sync.OnceValue(func() map[string]reachRule {
	rules := map[string]reachRule{
		"approve": {why: "changes are merged, and pushed where the repository has a remote, without asking you", when: not(ApproveManual)},
		"tests":   {why: runsHere, when: unsandboxed},
		"stress":  {why: runsHere, when: unsandboxed},

		"tests_e2e": {why: runsHere, when: unsandboxed},

		"agents.*.driver":           {why: "an agent of this machine works with your key or your login for it", when: not(DriverCommand)},
		"agents.*.command":          {why: "the program that works on requests, and the files that its arguments name", whole: true},
		"agents.*.script":           {why: "a recorded agent: what it replays"},
		"agents.*.env":              {why: "a variable for the agent's program"},
		"agents.*.program":          {why: "the program that is started as the agent"},
		"agents.*.permissions":      {why: allowsAll, when: allUnsandboxed},
		"agents.*.allow":            {why: allows},
		"agents.*.args":             {why: arguments, whole: true},
		"agents.*.login":            {why: "the agent is lent a copy of your own login", when: is(LoginOwn)},
		"agents.*.key":              {why: "the value of this variable is sent to the agent's server as its key"},
		"agents.*.url":              {why: "the agent's server: it gets your key and all that the agent is asked"},
		"agents.*.project_settings": {why: "the agent obeys settings that the repository brings for it, such as hooks and tool servers"},

		"commit.sign":    {why: "commits are signed with your key where you did not set that yourself", when: is("always")},
		"commit.signoff": {why: "you sign off on the agents' work in your name"},

		"forge.driver":     {why: "issues are read, and comments, pull requests and merges made, in your name there, and your token is sent there", when: not(ForgeLocal)},
		"forge.url":        {why: "the forge's server: it gets your token, issues and changes"},
		"forge.repository": {why: "the repository in which your token reads issues, opens pull requests and merges"},
		"forge.token":      {why: "the value of this variable is sent to the forge as your token"},
		"forge.login":      {why: "this program is asked for your own token"},
		"forge.app.key":    {why: "a file of this machine with a key: who can sign with it is the App"},
		"forge.label":      {why: "issues to which people with write access give this label are worked on", when: not("signalbox")},
		"forge.webhook":    {why: "whoever knows the value of this variable can have the forge asked for news"},
		"forge.fork":       {why: "branches are pushed to this fork, or to one that is made in your name", when: func(r reached) bool { return r.value.String() != ForkAuto && r.value.String() != ForkNever }},
		"forge.ci":         {why: "changes are merged although the forge has no verdict on them", when: is(CINone)},

		"environment.driver":          {why: "agents and commands run in containers of your Docker", when: is(DriverContainer)},
		"environment.sandbox":         {why: "agents and commands run on this machine as you, without isolation", when: is(SandboxNone)},
		"environment.user_namespaces": {why: "programs inside may make user namespaces, which open more of this machine's kernel to them"},

		"environment.read":         {why: "a path of this machine that agents and commands may read"},
		"environment.variables":    {why: "a variable that agents and commands get"},
		"environment.network":      {why: "agents and commands reach whatever this machine reaches", when: is(NetworkFull)},
		"environment.allow":        {why: "a host that agents and commands may reach"},
		"environment.set_up":       {why: runsHere, when: unsandboxed},
		"environment.image":        {why: "the image that containers are made of"},
		"environment.images.*":     {why: "the image that containers are made of"},
		"environment.dockerfile":   {why: "what your Docker builds containers from"},
		"environment.capabilities": {why: "a capability that programs in containers keep"},

		"environment.verify[].command": {why: runsHere, when: unsandboxed},

		"notify.command": {why: "a program that runs on this machine as you when a run needs you", whole: true},
		"notify.webhook": {why: "titles and reasons of your runs are sent there"},
		"notify.slack":   {why: "titles and reasons of your runs are sent there"},
		"notify.discord": {why: "titles and reasons of your runs are sent there"},
		"notify.ntfy":    {why: "titles and reasons of your runs are sent there"},

		"health.checks[].command": {why: runsHere, when: unsandboxed},
		"health.checks[].start":   {why: runsHere, when: unsandboxed},
		"health.checks[].rerun":   {why: runsHere, when: unsandboxed},
		"health.checks[].url":     {why: "this machine sends a request there", when: fromHere},
		"health.checks[].method":  {why: "the method of that request", when: fromHere},
		"health.checks[].body":    {why: "the body of that request", when: fromHere},
		"health.checks[].file":    {why: "a file of this machine whose lines are shown to agents"},
	}
	for _, roles := range []string{"roles.*", "workflows.*.roles.*"} {
		rules[roles+".permissions"] = reachRule{why: allowsAll, when: allUnsandboxed}
		rules[roles+".allow"] = reachRule{why: allows}
		rules[roles+".args"] = reachRule{why: arguments, whole: true}
	}
	for _, key := range harmless {
		rules[key] = reachRule{when: never}
	}
	return rules
})

// harmless are the settings that choose, restrict or describe what happens inside the sandbox, or that ask the person more often.
var harmless = []string{
	"forge.app.id", "forge.app.installation", "forge.merge", "forge.reviewers", "forge.draft", "forge.statuses", "forge.labels", "forge.language", "commit.trailer", "base", "push", "workflow", "max_parallel", "keep_statuses", "secrets", "notify.desktop",
	"agents.*.prompt", "agents.*.model", "agents.*.deny", "agents.*.prices.*.input", "agents.*.prices.*.cached", "agents.*.prices.*.output",
	"roles.*.agent", "roles.*.model", "roles.*.deny",
	"workflows.*.roles.*.agent", "workflows.*.roles.*.model", "workflows.*.roles.*.deny",
	"environment.on_failure", "environment.memory", "environment.cpus", "environment.processes", "environment.name",
	"environment.verify[].expect", "environment.warm", "environment.cache", "environment.submodules",
	"limits.review_rounds", "limits.ci_failures", "limits.set_up_repairs", "limits.autofix", "limits.contract_retries", "limits.agent_retries",
	"limits.action_retries", "limits.base_conflicts", "limits.max_diff_lines", "limits.tokens", "limits.cost_usd", "limits.calls",
	"limits.per_day.tokens", "limits.per_day.cost_usd", "limits.per_day.calls", "limits.agent_idle", "limits.agent_total",
	"limits.answer_within", "limits.test_total", "limits.set_up_total", "limits.checks_total",
	"health.every", "health.checks[].id", "health.checks[].kind", "health.checks[].severity", "health.checks[].status",
	"health.checks[].contains", "health.checks[].pattern", "health.checks[].recipe", "health.checks[].time_limit",
	"health.checks[].confirm", "health.checks[].interval",
}

// unknownWhy is the explanation of a setting without a rule.
const unknownWhy = "what it does to this machine is not known"

// Reaches lists the settings that affect the machine, in a stable order. Without a sandbox, which the user may choose elsewhere too, the file's
// commands are among them.
func (c *Config) Reaches(unsandboxed bool) (found []Reach) {
	unsandboxed = unsandboxed || c.Environment.Driver == DriverClone && c.Environment.Sandbox == SandboxNone
	walk(reflect.ValueOf(c).Elem(), reflect.Value{}, "", "", func(l leaf) {
		rule, known := reachRules()[l.pattern]
		if !known {
			rule = reachRule{why: unknownWhy, whole: true}
		}
		for _, value := range rule.values(l.value) {
			if rule.when == nil || rule.when(reached{l.value, l.in, unsandboxed}) {
				found = append(found, Reach{Key: l.key, Value: value, Why: rule.why})
			}
		}
	})
	slices.SortStableFunc(found, func(a, b Reach) int { return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value)) })
	return found
}

// values returns the parts of a setting that are agreed to separately; a single one if the rule takes it as a whole.
func (r reachRule) values(v reflect.Value) (values []string) {
	if v.Kind() != reflect.Slice {
		return []string{fmt.Sprint(v.Interface())}
	}
	for i := range v.Len() {
		values = append(values, fmt.Sprint(v.Index(i).Interface()))
	}
	if !r.whole {
		return values
	}
	var text strings.Builder // the list as the file could contain it
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(values) // texts only, and a builder never fails
	return []string{strings.TrimSpace(text.String())}
}

// WithoutReach returns the settings for a user who has agreed to nothing: settings that affect the machine are at their defaults, and agents and
// health checks that contain one are removed. Only the kind of environment stays, because existing environments can't be removed with another.
func (c Config) WithoutReach(unsandboxed bool) Config {
	fresh := Default()
	for _, r := range c.Reaches(unsandboxed) {
		switch top, rest, _ := strings.Cut(r.Key, "."); {
		case top == "agents" || top == "roles" || top == "workflows":
			c.Agents, c.Roles, c.Workflows = nil, nil, nil
		case strings.HasPrefix(r.Key, "health.checks"):
			c.Health.Checks = nil
		case r.Key == "environment.driver": // it only says how environments are removed
		case top == "environment":
			field, _, _ := strings.Cut(strings.ReplaceAll(rest, "[", "."), ".")
			reset(reflect.ValueOf(&c.Environment).Elem(), reflect.ValueOf(&fresh.Environment).Elem(), field)
		default:
			reset(reflect.ValueOf(&c).Elem(), reflect.ValueOf(&fresh).Elem(), strings.SplitN(top, "[", 2)[0])
		}
	}
	return c
}

// reset copies the field with this key from another struct.
func reset(in, from reflect.Value, key string) {
	for i := range in.NumField() {
		if keyOfField(in.Type().Field(i)) == key {
			in.Field(i).Set(from.Field(i))
		}
	}
}

// leaf is one setting with a value.
type leaf struct {
	// pattern is the key with "*" for names and "[]" for positions in a list.
	pattern, key string
	value, in    reflect.Value
}

// walk visits every setting with a value.
func walk(v, in reflect.Value, pattern, key string, visit func(leaf)) {
	switch kind := v.Kind(); {
	case v.IsZero():
	case kind == reflect.Pointer:
		walk(v.Elem(), in, pattern, key, visit)
	case kind == reflect.Struct:
		for i := range v.NumField() {
			name := keyOfField(v.Type().Field(i))
			walk(v.Field(i), v, strings.TrimPrefix(pattern+"."+name, "."), strings.TrimPrefix(key+"."+name, "."), visit)
		}
	case kind == reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			shown := name.String()
			if !variableName().MatchString(strings.ReplaceAll(shown, "-", "_")) { // it could be mistaken for part of a key
				shown = fmt.Sprintf("%q", shown)
			}
			walk(v.MapIndex(name), v, pattern+".*", key+"."+shown, visit)
		}
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			walk(v.Index(i), v, pattern+"[]", fmt.Sprintf("%s[%d]", key, i+1), visit)
		}
	case kind == reflect.Slice && v.Len() == 0:
	default:
		visit(leaf{pattern, key, v, in})
	}
}

func keyOfField(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return cmp.Or(name, strings.ToLower(f.Name))
}
