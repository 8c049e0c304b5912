package document

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

func newDocumentMigrate(a *command.Invocation) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use:  "migrate",
		RunE: func(c *cobra.Command, _ []string) error { return migrate(c.Context(), a, dryRun) },
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be fixed")
	return c
}

// migrated is what became of one document.
type migrated struct {
	store.Place
	Written bool        `json:"written"`
	Mends   []store.Fix `json:"mends"`
	Error   string      `json:"error,omitempty"`
}

func migrate(ctx context.Context, a *command.Invocation, dryRun bool) error {
	s, err := a.Opener.OpenStoreToChange(ctx, dryRun)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	places, err := s.Documents(ctx)
	if err != nil {
		return err
	}
	results := []migrated{}
	broken := 0
	for _, place := range places {
		mends, err := s.Migrate(ctx, place, !dryRun)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		result := migrated{Place: place, Mends: mends, Written: err == nil && len(mends) > 0 && !dryRun}
		if err != nil {
			broken++
			result.Error = err.Error()
		}
		if len(mends) > 0 || err != nil {
			results = append(results, result)
			showMigrated(a, result)
		}
	}
	return concludeMigration(a, results, len(places), broken, dryRun)
}

// mendsShown is how many changes of one document are told one by one.
const mendsShown = 8

func showMigrated(a *command.Invocation, m migrated) {
	if a.JSON {
		return
	}
	redactor := a.Opener.Redactor()
	say := func(format string, args ...any) {
		a.Print("%s\n", redact.Line(redactor.String(fmt.Sprintf(format, args...)), 300))
	}
	if m.Error != "" {
		say("%s: left as it is: %s", m.Path, m.Error)
	}
	for i, mend := range m.Mends {
		switch {
		case i == mendsShown:
			say("%s: and %d more", m.Path, len(m.Mends)-mendsShown)
			return
		case mend.Pointer == "":
			say("%s: taken over from where an older tool kept it", m.Path)
		case mend.Was == nil:
			say("%s: %s was missing and is %s", m.Path, mend.Pointer, short(mend.Is))
		default:
			say("%s: %s was %s and is %s", m.Path, mend.Pointer, short(mend.Was), short(mend.Is))
		}
	}
}

func short(value []byte) string { return redact.Line(string(value), 60) }

func concludeMigration(a *command.Invocation, results []migrated, all, broken int, dryRun bool) error {
	mended := len(results) - broken
	switch {
	case a.JSON:
		if err := a.PrintJSON(results); err != nil {
			return err
		}
	case dryRun && mended > 0:
		a.Print("%d of %d documents to fix; do it: signalbox document migrate\n", mended, all)
	default:
		a.Print("%d of %d documents fixed\n", mended, all)
	}
	if broken == 0 {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("%d of %d documents cannot be read and are left as they are", broken, all),
		Hint: "see what is wrong with one: signalbox document validate FILE"}
}
