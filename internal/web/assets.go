package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/language"
)

//go:embed assets templates
var files embed.FS

// assets are the files that pages load, by names that change with their content, so that browsers keep them for good.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	entries, _ := files.ReadDir("assets")
	for _, e := range entries {
		data, _ := files.ReadFile("assets/" + e.Name()) // embedded, so it is there
		sum := sha256.Sum256(data)
		ext := path.Ext(e.Name())
		all[e.Name()] = asset{strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext, data}
	}
	return all
})

type asset struct {
	address string
	data    []byte
}

// version changes with what pages load, so that a page of another server's version loads itself anew.
var version = sync.OnceValue(func() string {
	sum := sha256.New()
	entries, _ := files.ReadDir("templates")
	for _, e := range entries {
		data, _ := files.ReadFile("templates/" + e.Name())
		_, _ = sum.Write(data)
	}
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		_, _ = sum.Write([]byte(assets()[name].address))
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
})

var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	for _, a := range assets() {
		if a.address == name {
			w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_ = (&visit{w: w, r: r}).write(http.StatusOK, a.data)
			return
		}
	}
	http.NotFound(w, r)
}

// templates are those of each page in a language, the frame and the parts included. They are ours, so they can be read.
func templates(l language.Language) map[string]*template.Template {
	base := template.Must(template.New("").Funcs(template.FuncMap{
		"say":   l.Page,
		"asset": func(name string) string { return "/assets/" + assets()[name].address },
		"rfc":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock": commandline.When,
		"inc":   func(i int) int { return i + 1 },
		"pair":  func(a, b any) struct{ A, B any } { return struct{ A, B any }{a, b} },
	}).ParseFS(files, "templates/layout.html"))
	all := map[string]*template.Template{"problem": base}
	entries, _ := files.ReadDir("templates")
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".html"); name != "layout" {
			all[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "templates/"+e.Name()))
		}
	}
	return all
}
