package gateway_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"signalbox/internal/gateway"
)

// asProcess names the folder of a ledger from which this program, started as another process, takes a
// share. It says so, and holds it until it is killed or its standard input ends.
const asProcess = "SIGNALBOX_TEST_LEDGER"

func TestMain(m *testing.M) {
	if root := os.Getenv(asProcess); root != "" {
		os.Exit(takeShare(root))
	}
	os.Exit(m.Run())
}

func takeShare(root string) int {
	l := ledger(root, 1000)
	hold, err := l.Reserve(context.Background(), gateway.Ask{Most: gateway.Spending{Tokens: 600}})
	fmt.Println("took", err)
	if err != nil {
		return 1
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = hold.Spend(gateway.Spending{Tokens: 100})
	hold.Release()
	_ = l.Close()
	return 0
}

// noon is of the day that the tests of ledgers share.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func ledger(root string, tokens int64) *gateway.Ledger {
	return gateway.NewLedger(gateway.LedgerConfig{Root: root, Dir: "spending", Budget: gateway.Spending{Tokens: tokens}, Calls: 3, Clock: func() time.Time { return noon }})
}
