package wiring

import (
	"context"
	"testing"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/secrets"
)

func TestARotatedSecretIsFoundWhenTheOldOneWasRefused(t *testing.T) {
	value := "old"
	r := secrets.New(clock.System{}, map[string]secrets.Provider{
		"store": secrets.ProviderFunc(func(context.Context, string) (string, error) { return value, nil }),
	})
	resolve := func(resolve func(context.Context, string) (string, error), want string) {
		t.Helper()
		if got, err := resolve(t.Context(), "store://db"); got != want || err != nil {
			t.Errorf("resolved to %q, %v; want %q", got, err, want)
		}
	}
	resolve(rereading(r), "old")
	value = "new"
	one := rereading(r)
	resolve(one, "old") // kept, as it is for most connections
	resolve(one, "new") // the database has refused it
	resolve(rereading(r), "new")
}
