package egress

// publicHosts are always allowed: the hosts that package managers use without configuration. Model services are not among them, because a command
// can send anything to them; a person names the one that is needed.
var publicHosts = []string{
	// Go; the proxy sends large modules from the storage service.
	"proxy.golang.org", "sum.golang.org", "index.golang.org", "storage.googleapis.com", "go.dev", "dl.google.com",
	// JavaScript
	"registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "nodejs.org",
	// Python
	"pypi.org", "files.pythonhosted.org",
	"conda.anaconda.org", "repo.anaconda.com", "binstar-cio-packages-prod.s3.amazonaws.com",
	// Java
	"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "plugins-artifacts.gradle.org",
	"services.gradle.org", "downloads.gradle.org", "maven.google.com",
	// Rust
	"crates.io", "static.crates.io", "index.crates.io", "static.rust-lang.org",
	// Ruby, PHP, .NET, Elixir
	"rubygems.org", "index.rubygems.org", "repo.packagist.org", "packagist.org", "api.nuget.org",
	"repo.hex.pm", "hex.pm", "builds.hex.pm",
	// Systems
	"deb.debian.org", "security.debian.org", "archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com",
	"dl-cdn.alpinelinux.org",
}
