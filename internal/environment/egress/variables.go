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
	// Java knows none of the variables. JAVA_TOOL_OPTIONS would reach every Java program, but each would say so on its
	// standard error.
	host, port, _ := net.SplitHostPort(ProxyAddress)
	java := " -Daether.connector.http.useSystemProperties=true" // Maven 3.9 heeds the others only then
	for _, scheme := range []string{"http", "https"} {
		java += " -D" + scheme + ".proxyHost=" + host + " -D" + scheme + ".proxyPort=" + port
	}
	for _, name := range []string{"MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"} {
		options := ""
		for _, assignment := range existing {
			if value, ok := strings.CutPrefix(assignment, name+"="); ok {
				options = value // the last counts
			}
		}
		list = append(list, name+"="+strings.TrimSpace(options+java))
	}
	return list
}
