package egress

import (
	"net"
	"strings"
)

// Variables returns what tells the tools of a command where the proxy is, in the words of each.
// Where one holds options, those that existing (KEY=value) has are kept.
func Variables(existing []string) []string {
	const (
		proxy = "http://" + ProxyAddress
		local = "localhost,127.0.0.1,::1"
	)
	var list []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		list = append(list, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	list = append(list, "NO_PROXY="+local, "no_proxy="+local,
		"YARN_HTTP_PROXY="+proxy, "YARN_HTTPS_PROXY="+proxy, "NODE_USE_ENV_PROXY=1")
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"} {
		list = append(list, name+"="+strings.TrimSpace(valueOf(existing, name)+" "+javaOptions()))
	}
	return list
}

// javaOptions returns Java's, which knows none of the variables. JAVA_TOOL_OPTIONS would reach every
// Java program, but each would say so on its standard error.
func javaOptions() string {
	host, port, _ := net.SplitHostPort(ProxyAddress)
	options := []string{"-Daether.connector.http.useSystemProperties=true"} // Maven 3.9 heeds the others only then
	for _, scheme := range []string{"http", "https"} {
		options = append(options, "-D"+scheme+".proxyHost="+host, "-D"+scheme+".proxyPort="+port)
	}
	return strings.Join(options, " ")
}

func valueOf(list []string, name string) (last string) {
	for _, assignment := range list {
		if value, ok := strings.CutPrefix(assignment, name+"="); ok {
			last = value
		}
	}
	return last
}
