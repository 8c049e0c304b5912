package cli_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
)

func (x *packageIndex) goModule(t *testing.T) {
	const version = "/go/example.com/colour/@v/v1.0.0"
	mod := "module example.com/colour\n\ngo 1.24\n"
	x.files[version+".mod"] = []byte(mod)
	x.files[version+".info"] = []byte(`{"Version": "v1.0.0"}`)
	x.files["/go/example.com/colour/@v/list"] = []byte("v1.0.0\n")
	x.files[version+".zip"] = zipped(t, "example.com/colour@v1.0.0/go.mod", mod,
		"example.com/colour@v1.0.0/colour.go", "package colour\n\nfunc Name() string { return \"blue\" }\n")
}

func (x *packageIndex) npmPackage(t *testing.T) {
	manifest := `{"name": "colour", "version": "1.0.0", "main": "index.js"}`
	tarball := tarred(t, "package/package.json", manifest, "package/index.js", `module.exports = "blue"`)
	digest := sha512.Sum512(tarball)
	x.files["/npm/colour/-/colour-1.0.0.tgz"] = tarball
	x.files["/npm/colour"] = fmt.Appendf(nil, `{"name": "colour", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "colour", "version": "1.0.0",
		"dist": {"tarball": "%s/npm/colour/-/colour-1.0.0.tgz", "integrity": "sha512-%s"}}}}`, x.url, base64.StdEncoding.EncodeToString(digest[:]))
	if !json.Valid(x.files["/npm/colour"]) {
		t.Fatalf("no JSON: %s", x.files["/npm/colour"])
	}
}

func (x *packageIndex) wheel(t *testing.T) {
	const name = "colour-1.0-py3-none-any.whl"
	x.files["/pip/colour/"] = []byte(`<!DOCTYPE html><html><body><a href="` + name + `">` + name + `</a></body></html>`)
	x.files["/pip/colour/"+name] = zipped(t, "colour.py", "name = 'blue'\n",
		"colour-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: colour\nVersion: 1.0\n",
		"colour-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"colour-1.0.dist-info/RECORD", "")
}

// zipped is an archive of pairs of name and content.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for i := 0; i < len(files); i += 2 {
		file, err := w.Create(files[i])
		if err == nil {
			_, err = file.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func tarred(t *testing.T, files ...string) []byte {
	t.Helper()
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	w := tar.NewWriter(compressed)
	for i := 0; i < len(files); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
