package cli_test

import (
	"flag"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

var pictures = flag.String("pictures", "", "a folder for pictures of Gitea's pages, which Chromium takes; scripts/pictures.sh sets it")

// picture takes a picture of a page of the repository as anyone sees it, if pictures are asked for.
func (g *tea) picture(name, page string) {
	g.Helper()
	if *pictures == "" {
		return
	}
	path := filepath.Join(*pictures, name+".png")
	out, err := exec.CommandContext(g.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+g.TempDir(), //nolint:gosec // our own server's pages
		"--window-size=1120,4000", "--virtual-time-budget=5000", "--screenshot="+path, g.URL+"/grace/"+g.name+page).CombinedOutput()
	if err == nil {
		err = trim(path)
	}
	if err != nil {
		g.Fatalf("take a picture of %s: %v\n%s", page, err, out)
	}
}

// trim leaves out the empty part of a page, and all below it.
func trim(path string) error {
	const empty = 200          // rows of one color
	data, err := os.Open(path) //nolint:gosec // the picture that was just taken
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	full, err := png.Decode(data)
	if err != nil {
		return err
	}
	drawn := image.NewRGBA(full.Bounds())
	draw.Draw(drawn, drawn.Rect, full, drawn.Rect.Min, draw.Src)
	height, alike := drawn.Rect.Dy(), 0
	for y := range drawn.Rect.Dy() {
		row := drawn.Pix[y*drawn.Stride : y*drawn.Stride+4*drawn.Rect.Dx()]
		if !slices.Equal(row[4:], row[:len(row)-4]) {
			alike = 0
		} else if alike++; alike == empty {
			height = y - empty + 20
			break
		}
	}
	to, err := os.Create(path) //nolint:gosec // the same
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	small := png.Encoder{CompressionLevel: png.BestCompression}
	return small.Encode(to, drawn.SubImage(image.Rect(0, 0, drawn.Rect.Dx(), height)))
}
