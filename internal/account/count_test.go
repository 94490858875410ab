package account_test

import (
	"testing"

	"github.com/haven-mem/haven/internal/account"
)

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 chunks": account.Count(0, "chunk"),
		"1 chunk":  account.Count(1, "chunk"),
		"2 chunks": account.Count(uint64(2), "chunk"),
		"1 miss":   account.Count(1, "miss"),
		"3 misses": account.Count(3, "miss"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
