package wire

import "signalbox/internal/agreement"

// agreements is what the user agreed to on this machine for the project. It implements perform.Agreements.
type agreements struct{ *Project }

func (a agreements) book() (agreement.Book, error) { return agreement.Open(a.Root, a.Env) }

func (a agreements) SetUpAgreed(content string) (bool, error) {
	book, err := a.book()
	if err != nil {
		return false, err
	}
	return book.Agreed(agreement.SetUp, content)
}

func (a agreements) AgreeToSetUp(content string, shown []string) error {
	book, err := a.book()
	if err != nil {
		return err
	}
	return book.Agree(agreement.SetUp, content, "approved", shown, now())
}
