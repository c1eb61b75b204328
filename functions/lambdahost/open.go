package lambdahost

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// Open puts together what a function's main needs, from the environment. It is
// called once a container. Settings that cannot work end the process with a log
// event, which Lambda reports as a failed start.
func Open(ctx context.Context) (Host, *wiring.AWS) {
	log := telemetry.JSONLogger(os.Stdout, slog.LevelInfo)
	LimitMemory(os.LookupEnv, os.DirFS("/"))
	settings, err := wiring.AWSSettingsFromEnv(os.LookupEnv)
	if err != nil {
		fail(ctx, log, err)
	}
	settings.Log = log
	settings.Observer = metrics(os.Stdout, clock.System{}, os.LookupEnv)
	cloud, err := wiring.OpenAWS(ctx, settings)
	if err != nil {
		fail(ctx, log, err)
	}
	return Host{Log: log, Clock: clock.System{}, Queues: cloud.Queues(), Jitter: wiring.IDs{}.Jitter}, cloud
}

// metrics is the observer whose metrics CloudWatch takes from the function's
// standard output. Both dimensions have a name even where the environment gives
// none: a metric without would be dropped.
func metrics(out io.Writer, c clock.Clock, lookup func(string) (string, bool)) *telemetry.EMF {
	stack, _ := lookup("LAPSTRAKE_STACK")
	function, _ := lookup("AWS_LAMBDA_FUNCTION_NAME")
	return telemetry.NewEMF(out, c, cmp.Or(stack, wiring.DefaultStack), cmp.Or(function, "local"))
}

func fail(ctx context.Context, log *slog.Logger, err error) {
	log.ErrorContext(ctx, "the function cannot start", telemetry.Err(err))
	os.Exit(1)
}
