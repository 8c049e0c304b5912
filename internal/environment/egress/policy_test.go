package egress

import (
	"net/netip"
	"slices"
	"testing"
)

func policy(t testing.TB, allow, variables []string) Policy {
	t.Helper()
	p, err := NewPolicy(allow, variables)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOnlyHostsOfThePolicyAreTrusted(t *testing.T) {
	t.Parallel()
	p := policy(t,
		[]string{"api.example.org", ".example.net", "10.0.0.7:5432", "[::1]:8080", "Wiki.Example.com:8443"},
		[]string{"GOPROXY=https://go.example.edu|http://10.1.1.1:3000,direct", "PIP_EXTRA_INDEX_URL=https://u:p@a.example.edu/simple https://b.example.edu:444/",
			"HTTPS_PROXY=http://proxy.example.edu:3128", "CARGO_INDEX=sparse+https://crates.example.edu/", "X=not://x.example.edu"})
	for _, c := range []struct {
		host string
		port uint16
		want trust
	}{
		{"registry.npmjs.org", 443, public},
		{"registry.npmjs.org", 80, public},
		{"registry.npmjs.org", 22, refused},
		{"evil.registry.npmjs.org", 443, refused},
		{"registry.npmjs.org.evil.example", 443, refused},
		{"api.example.org", 443, ownNetwork},
		{"api.example.org", 8443, refused},
		{"example.org", 443, refused},
		{"a.b.example.net", 443, public},
		{"example.net", 443, refused},
		{"badexample.net", 443, refused},
		{"10.0.0.7", 5432, everyAddress},
		{"10.0.0.7", 443, refused},
		{"::1", 8080, everyAddress},
		{"wiki.example.com", 8443, ownNetwork},
		{"go.example.edu", 443, ownNetwork},
		{"go.example.edu", 80, refused},
		{"10.1.1.1", 3000, everyAddress},
		{"a.example.edu", 443, ownNetwork},
		{"b.example.edu", 444, ownNetwork},
		{"crates.example.edu", 443, ownNetwork},
		{"proxy.example.edu", 3128, refused},
		{"x.example.edu", 443, refused},
		{"169.254.169.254", 80, refused},
		{"localhost", 80, refused},
		{"127.0.0.1", 443, refused},
	} {
		if got := p.of(c.host, c.port); got != c.want {
			t.Errorf("%s port %d: trust %d, want %d", c.host, c.port, got, c.want)
		}
	}
}

func TestAnEntryThatIsNoHostIsRefused(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", ".", "https://example.org", "example.org/path", "*.example.org", "example.org:0", "example.org:99999",
		"a b", "ex\x1bample.org", "fe80::1%eth0", "..example.org", "bücher.example"} {
		if _, err := NewPolicy([]string{entry}, nil); err == nil {
			t.Errorf("%q was accepted", entry)
		}
	}
}

func TestAddressesOutsideOfTheInternetNeedAPersonsWord(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][3]bool{ // public, own network, every address
		"93.184.215.14":          {true, true, true},
		"2606:4700::1111":        {true, true, true},
		"127.0.0.1":              {false, true, true},
		"127.8.8.8":              {false, true, true},
		"::1":                    {false, true, true},
		"::ffff:127.0.0.1":       {false, true, true},
		"10.1.2.3":               {false, true, true},
		"172.16.0.1":             {false, true, true},
		"192.168.1.1":            {false, true, true},
		"fd00::1":                {false, true, true},
		"100.100.100.200":        {false, true, true},
		"64:ff9b::a9fe:a9fe":     {false, true, true},
		"2002:7f00:1::":          {false, true, true},
		"169.254.169.254":        {false, false, true},
		"::ffff:169.254.169.254": {false, false, true},
		"fe80::1":                {false, false, true},
		"0.0.0.0":                {false, false, true},
		"::":                     {false, false, true},
		"224.0.0.251":            {false, false, true},
		"ff02::fb":               {false, false, true},
		"255.255.255.255":        {false, false, true},
	} {
		ip := netip.MustParseAddr(address)
		if got := [3]bool{public.permits(ip), ownNetwork.permits(ip), everyAddress.permits(ip)}; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
		if refused.permits(ip) {
			t.Errorf("%s is permitted to a refused host", address)
		}
	}
}

func TestNamedLoopbackAddressesAreListenedAt(t *testing.T) {
	t.Parallel()
	p := policy(t, []string{"localhost:3000", "127.0.0.1:3000", "[::1]:8080", "127.0.0.1", "10.0.0.7:5432"}, []string{"GOPROXY=http://127.0.0.1:9/x"})
	if got, want := p.Addresses(), []string{ProxyAddress, "127.0.0.1:3000", "[::1]:8080", "127.0.0.1:9"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
