package sandbox

import "testing"

func TestTheListOfUsersHasHomeInside(t *testing.T) {
	t.Parallel()
	const others = "root:x:0:0:root:/root:/bin/bash\n_apt:x:100:65534::/nonexistent:/usr/sbin/nologin\n"
	for name, c := range map[string]struct{ list, want string }{
		"one of the list":                {others + "ada:x:7:8:Ada:/home/ada:/bin/zsh\n", others + "ada:x:7:8:Ada:/home/signalbox:/bin/zsh\n"},
		"one of a directory service":     {others, others + "signalbox:x:7:8::/home/signalbox:/bin/sh\n"},
		"a list without a last line end": {"nobody:x:9:9::/:/bin/false", "nobody:x:9:9::/:/bin/false\nsignalbox:x:7:8::/home/signalbox:/bin/sh\n"},
	} {
		if got := string(atHomeInside([]byte(c.list), 7, 8)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
