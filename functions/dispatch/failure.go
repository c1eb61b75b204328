package dispatch

import (
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// Failure is err as it is stored and told: what looks like a secret in its
// message is hidden, though no driver should have put one there (SEC-01).
func Failure(err error) fault.Failure {
	f := fault.FailureOf(err)
	f.Message = telemetry.Told(err.Error())
	return f
}
