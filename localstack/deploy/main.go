// Command deploy puts the functions of `make package` on the AWS endpoint of
// the environment, a local one by AWS_ENDPOINT_URL, and prints how to call
// them. It is for trying out: see docs/aws.md for what a deployment needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

func main() {
	o := cloud.Options{Zips: make(map[string][]byte)}
	flag.StringVar(&o.Stack, "stack", wiring.DefaultStack, "begins the name of everything")
	flag.StringVar(&o.Bucket, "bucket", "lake", "gets the exports; its notifications are replaced")
	flag.StringVar(&o.Role, "role", "", "ARN of the functions' role; a local cloud needs none")
	flag.StringVar(&o.Architecture, "arch", runtime.GOARCH, "arm64 or amd64")
	flag.DurationVar(&o.Timeout, "timeout", 15*time.Minute, "of every function")
	sources := flag.String("sources", "default", "names of the source databases, with commas between")
	zips := flag.String("zips", "", "folder of the zips (dist/lambda/ARCH)")
	flag.Parse()
	if *zips == "" {
		*zips = filepath.Join("dist", "lambda", o.Architecture)
	}
	o.Sources = strings.Split(*sources, ",")
	if err := deploy(context.Background(), o, *zips); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func deploy(ctx context.Context, o cloud.Options, zips string) (err error) {
	for _, function := range cloud.Functions {
		if o.Zips[function], err = os.ReadFile(filepath.Join(zips, function+".zip")); err != nil {
			return fmt.Errorf("%w (make package ARCH=%s builds it)", err, o.Architecture)
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	d, err := cloud.Deploy(ctx, cfg, o)
	if err != nil {
		return err
	}
	for _, function := range cloud.Functions {
		fmt.Println("function", d.FunctionName(function))
	}
	for _, name := range slices.Sorted(maps.Keys(d.QueueURLs)) {
		fmt.Println("queue   ", d.QueueURLs[name])
	}
	fmt.Println("table   ", d.Table)
	fmt.Println("bucket  ", d.Bucket)
	fmt.Printf("\naws lambda invoke --cli-binary-format raw-in-base64-out --function-name %s --payload '{\"version\":1,\"action\":\"sweep\"}' /dev/stdout\n", d.FunctionName("planner"))
	return nil
}
