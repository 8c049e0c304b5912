package detect

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

func (s *survey) pom(f *File, text []byte) error {
	var p struct {
		XMLName      xml.Name `xml:"project"`
		Dependencies []struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
		} `xml:"dependencies>dependency"`
		Release string `xml:"properties>maven.compiler.release"`
		Source  string `xml:"properties>maven.compiler.source"`
		Java    string `xml:"properties>java.version"`
	}
	d := xml.NewDecoder(strings.NewReader(string(text)))
	d.CharsetReader = charset
	if err := d.Decode(&p); err != nil {
		return err
	}
	for _, dependency := range p.Dependencies {
		name := strings.TrimSpace(dependency.Group) + ":" + strings.TrimSpace(dependency.Artifact)
		s.depend(f, "maven", strings.Trim(name, ":"), strings.TrimSpace(dependency.Version))
	}
	for _, version := range []string{p.Release, p.Java, p.Source} {
		s.want(f, map[string]string{Java: strings.TrimPrefix(strings.TrimSpace(version), "1.")})
	}
	return nil
}

// charset reads the encodings of old poms, in which each byte is a character.
func charset(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "iso-8859-1", "iso-8859-15", "windows-1252", "us-ascii", "latin1":
	default:
		return nil, fmt.Errorf("unknown encoding %q", short(name))
	}
	data, err := io.ReadAll(in)
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return strings.NewReader(string(runes)), err
}

var (
	gradleDependency = lazy.Pattern(`(?m)^\s*(?:\w*[iI]mplementation|api|\w*[cC]ompileOnly|\w*[rR]untimeOnly|annotationProcessor|kapt|ksp|compile|testCompile)[\s(]+` +
		`(?:(?:enforcedP|p)latform\()?(?:["']([^"':\s]+:[^"':\s]+)(?::([^"'\s]+))?["']|(libs\.[\w.]+))`)
	gradleJava = lazy.Pattern(`(?:JavaLanguageVersion\.of\(|jvmToolchain\(|(?:source|target)Compatibility\s*=?\s*["']?(?:JavaVersion\.VERSION_)?)(?:1[._])?(\d+)`)
)

// gradle reads what it can without running the build file, which is a program.
func (s *survey) gradle(f *File, text []byte) error {
	for _, match := range gradleDependency().FindAllSubmatch(text, maxDependencies) {
		s.depend(f, "maven", string(match[1])+string(match[3]), string(match[2]))
	}
	if match := gradleJava().FindSubmatch(text); match != nil {
		s.want(f, map[string]string{Java: string(match[1])})
	}
	return nil
}

// Maven resolves the plugins that run tests only when it runs tests. So mavenFetch selects all of them, but
// no method of any: afterwards "mvn -o test" needs no network.
const (
	mavenFetch   = `-B -q -Dtest='*#noSuchMethod' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false test`
	mavenCheck   = `-B -q -o -DskipTests test >/dev/null`
	gradleFetch  = `--no-daemon -q testClasses`
	gradleCheck  = `--no-daemon -q --offline testClasses >/dev/null`
	mavenWrapped = ".mvn/wrapper/maven-wrapper.properties"
	gradleJar    = "gradle/wrapper/gradle-wrapper.jar"
)

// javaSetUp builds every outermost project. The ones below it are its modules.
func (s *survey) javaSetUp() (p plan) {
	var built []string
	for _, m := range s.modules("pom.xml", "build.gradle", "settings.gradle") {
		if slices.ContainsFunc(built, func(dir string) bool { return below(m.dir, dir) }) {
			continue
		}
		built = append(built, m.dir)
		program, fetch, check, made := s.wrapper(m.dir, "gradle", "gradlew", gradleJar), gradleFetch, gradleCheck, "build"
		source := cmp.Or(m.manifests["settings.gradle"], m.manifests["build.gradle"])
		if pom := m.manifests["pom.xml"]; pom != "" {
			program, fetch, check, made, source = s.wrapper(m.dir, "mvn", "mvnw", mavenWrapped), mavenFetch, mavenCheck, "target", pom
		}
		if !s.ignores(m.dir, made) {
			s.note("%s is not in %s: files that the setup makes there become part of a change", made, path.Join(m.dir, ".gitignore"))
		}
		p.commands = append(p.commands, inside(m.dir, program+" "+fetch))
		p.checks = append(p.checks, inside(m.dir, program+" "+check))
		p.source = append(p.source, source)
	}
	return p
}

// wrapper returns the project's own script for the program, if it is complete. sh starts it, because it is
// often committed without the permission to execute it.
func (s *survey) wrapper(dir, program, script, needs string) string {
	if s.has(path.Join(dir, script)) && s.has(path.Join(dir, needs)) {
		return "sh ./" + script
	}
	return program
}
