package gitlabtest

import (
	"net/http"
	"strconv"
	"strings"
)

func getUser(c *call) {
	me := c.user(c.account)
	me["bot"] = c.account == Robot
	c.send(http.StatusOK, me)
}

func getJob(c *call) {
	c.send(http.StatusOK, object{"id": 9, "name": "signalbox", "status": "running", "user": c.user(c.account), "web_url": c.URL + "/" + Path + "/-/jobs/9"})
}

func getProject(c *call) {
	level := c.st.Levels[c.account]
	permissions := object{"project_access": object{"access_level": level, "notification_level": 3}, "group_access": nil}
	if c.st.Hidden {
		permissions = object{"project_access": nil, "group_access": nil}
	}
	answer := object{
		"id": 7, "path_with_namespace": Path, "name": "engine", "path": "engine", "web_url": c.URL + "/" + Path, "default_branch": "main", "archived": false,
		"merge_method": "merge", "squash_option": "default_off", "only_allow_merge_if_pipeline_succeeds": false, "allow_merge_on_skipped_pipeline": nil,
		"permissions": permissions, "description": nil, "created_at": stamp(c.st.Now),
	}
	for name, value := range c.st.Settings {
		answer[name] = value
	}
	if fork := c.fork(); fork != nil {
		c.forked(answer, fork)
	}
	c.send(http.StatusOK, answer)
}

// fork is the one that the request's path names, by its path or its number; nil if it names none.
func (c *call) fork() *Fork {
	id := c.r.PathValue("id")
	for path, f := range c.st.Forks {
		if strings.EqualFold(path, id) || strconv.FormatInt(f.ID, 10) == id {
			return f
		}
	}
	return nil
}

// forked makes a project's answer that of a fork.
func (c *call) forked(answer object, fork *Fork) {
	level, filled := 0, "finished"
	if fork.Owner == c.account {
		level = 50
	}
	if c.st.Filling--; c.st.Filling >= 0 {
		filled = "started"
	}
	for path, f := range c.st.Forks {
		if f == fork {
			answer["path_with_namespace"], answer["web_url"] = path, c.URL+"/"+path
		}
	}
	answer["id"], answer["import_status"] = fork.ID, filled
	answer["permissions"] = object{"project_access": object{"access_level": level, "notification_level": 3}, "group_access": nil}
	answer["forked_from_project"] = object{"id": 7, "path_with_namespace": Path, "web_url": c.URL + "/" + Path}
}

func listForks(c *call) {
	var found []any
	for path, f := range c.st.Forks {
		if c.r.URL.Query().Get("owned") != "true" || f.Owner == c.account {
			found = append(found, object{"id": f.ID, "path_with_namespace": path, "web_url": c.URL + "/" + path})
		}
	}
	c.list(found)
}

// createFork answers at once, and the fork has its branches later.
func createFork(c *call) {
	path := c.account + "/engine"
	if c.st.Forks[path] != nil {
		c.refuse(http.StatusConflict, object{"name": []string{"has already been taken"}, "path": []string{"has already been taken"}})
		return
	}
	fork := &Fork{c.st.id(), c.account, c.Git.Fork("engine")}
	c.st.Forks[path] = fork
	answer := object{"default_branch": "main", "archived": false}
	c.forked(answer, fork)
	c.send(http.StatusCreated, answer)
}

func (c *call) member(name string) object {
	m := c.user(name)
	m["access_level"], m["expires_at"] = c.st.Levels[name], nil
	return m
}

func listMembers(c *call) {
	var found []any
	for name := range c.st.Levels {
		if strings.Contains(name, strings.ToLower(c.r.URL.Query().Get("query"))) { // GitLab ignores case
			found = append(found, c.member(name))
		}
	}
	c.list(found)
}

func getMember(c *call) {
	for name := range c.st.Levels {
		if int(userID(name)) == c.number("p4") {
			c.send(http.StatusOK, c.member(name))
			return
		}
	}
	c.lacks("Member")
}

func getBranch(c *call) {
	name := c.r.PathValue("p4")
	if c.Head(name) == "" {
		c.lacks("Branch")
		return
	}
	level, protected := c.st.Protected[name]
	c.send(http.StatusOK, object{"name": name, "protected": protected, "default": name == "main", "merged": false,
		"can_push": c.st.Levels[c.account] >= max(level, 30), "developers_can_push": false, "developers_can_merge": false, "commit": object{"id": c.Head(name)},
		"web_url": c.URL + "/" + Path + "/-/tree/" + name})
}

func listRules(c *call) {
	if c.st.RulesStatus != 0 {
		c.refuse(c.st.RulesStatus, http.StatusText(c.st.RulesStatus))
		return
	}
	var found []any
	for _, rule := range c.st.Rules {
		found = append(found, rule)
	}
	c.list(found)
}

func findUsers(c *call) {
	var found []any
	for name := range c.st.Levels {
		if strings.EqualFold(name, c.r.URL.Query().Get("username")) {
			found = append(found, c.user(name))
		}
	}
	c.list(found)
}
