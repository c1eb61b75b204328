package memory_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/destinationtest"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestMemoryIsAStore(t *testing.T) {
	for name, like := range map[string]destination.Capabilities{
		"like S3":                      memory.LikeS3,
		"like GCS":                     memory.LikeGCS,
		"no checksums and no metadata": {CommitProtocol: "Atomic"},
	} {
		t.Run(name, func(t *testing.T) {
			destinationtest.Run(t, func(*testing.T) destination.Store { return memory.New("memory://b", like) })
			destinationtest.RunInterleaved(t, func(*testing.T) destinationtest.OpenVia {
				bucket := memory.New("memory://b", like)
				return func(_ *testing.T, before func()) destination.Store {
					return faulty.Wrap(bucket, faulty.FaultFunc(func(_ faulty.Call, perform func() error) error {
						if before != nil {
							before()
						}
						return perform()
					}))
				}
			})
		})
	}
}

func TestACloudOpensOnlyBucketsThatWereMade(t *testing.T) {
	var cloud memory.Cloud
	cloud.Make("exports")
	destinationtest.RunMissing(t, func(t *testing.T) (destination.Store, error) {
		return cloud.Open(t.Context(), wire.Location{Kind: "memory", URI: "memory://other/orders"})
	})
	for _, uri := range []string{"s3://exports/a", "memory:", "exports", "memory://%zz"} {
		if _, err := cloud.Open(t.Context(), wire.Location{URI: uri}); err == nil {
			t.Errorf("%q was opened", uri)
		}
	}
}

func TestTwoLocationsOfOneBucketShareItsObjects(t *testing.T) {
	cloud := memory.Cloud{Like: memory.LikeS3}
	cloud.Make("exports")
	open := func(uri string) destination.Store {
		s, err := cloud.Open(t.Context(), wire.Location{Kind: "memory", URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, err := open("memory://exports/orders/").Create(t.Context(), "k", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	if _, err := open("memory://exports").Head(t.Context(), "orders/k"); err != nil {
		t.Fatal(err)
	}
}
