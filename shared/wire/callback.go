package wire

import (
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// StepFunctions is the kind of a callback whose token is a task token of AWS
// Step Functions.
const StepFunctions = "sfn"

// RunOutput is what a callback is answered with once its run has ended: what a
// workflow branches on, and where the rest is. It is small, and holds no row, no
// key of a row and no secret.
type RunOutput struct {
	RunID  contract.RunID      `json:"run_id,omitempty"`
	Export contract.ExportName `json:"export,omitempty"`
	// Status is "success", "failed", "superseded" or "refused".
	Status string `json:"status"`
	// Skipped is true of a trigger that was refused: nothing was started and
	// nothing is wrong.
	Skipped bool `json:"skipped,omitempty"`
	// ManifestURI is the run's own manifest, which no later run replaces; ""
	// for a run that published nothing. What is there has ManifestFingerprint
	// until the run is repaired.
	ManifestURI         string               `json:"manifest_uri,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fingerprint,omitempty"`
	RowCount            int64                `json:"row_count"`
	PartCount           int                  `json:"part_count"`
	// Verdict is what the run was found to have published, "passed" or
	// "failed"; "" when it has not been looked at.
	Verdict string         `json:"verdict,omitempty"`
	Error   *fault.Failure `json:"error,omitempty"`
}
