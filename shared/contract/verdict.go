package contract

import "strings"

// VerdictKind is what a verifier found, in the upstream's words (reference
// §6.1).
type VerdictKind string

const (
	VerdictPartMissing            VerdictKind = "part_missing"
	VerdictPartSizeMismatch       VerdictKind = "part_size_mismatch"
	VerdictPartChecksumMismatch   VerdictKind = "part_checksum_mismatch"
	VerdictValueChecksumMismatch  VerdictKind = "value_checksum_mismatch"
	VerdictPartRowCountMismatch   VerdictKind = "part_row_count_mismatch"
	VerdictCDCPositionViolation   VerdictKind = "cdc_position_violation"
	VerdictSuccessMalformed       VerdictKind = "success_marker_malformed"
	VerdictSuccessStale           VerdictKind = "success_marker_stale"
	VerdictManifestInconsistent   VerdictKind = "manifest_self_inconsistent"
	VerdictContentUnmet           VerdictKind = "content_verification_unmet"
	VerdictManifestRequired       VerdictKind = "manifest_required_but_absent"
	VerdictManifestMissing        VerdictKind = "manifest_missing_under_marker"
	VerdictManifestReadError      VerdictKind = "manifest_read_error"
	VerdictSuccessReadError       VerdictKind = "success_marker_read_error"
	VerdictListError              VerdictKind = "list_prefix_error"
	VerdictRunNotSuccessful       VerdictKind = "run_not_successful"
	VerdictUntrackedObject        VerdictKind = "untracked_object"
	VerdictValueCheckNotAvailable VerdictKind = "value_check_not_available"
)

// VerdictClass says what a finding means for the process's exit code.
type VerdictClass string

const (
	VerdictNote       VerdictClass = "note"       // worth knowing; the data is as promised
	VerdictUnverified VerdictClass = "unverified" // could not be verified: exit 1
	VerdictWrong      VerdictClass = "wrong"      // verified, and wrong: exit 3
)

// Worse is the worse of two classes: Wrong before Unverified before Note.
func (c VerdictClass) Worse(other VerdictClass) VerdictClass {
	for _, class := range []VerdictClass{VerdictWrong, VerdictUnverified} {
		if c == class || other == class {
			return class
		}
	}
	return VerdictNote
}

// verdictFacts is one row of the table of reference §6.1: the code's last
// words, the class, and the fields of the finding in the order in which they
// are printed.
type verdictFacts struct {
	code   string
	class  VerdictClass
	fields []string
}

var verdicts = map[VerdictKind]verdictFacts{
	VerdictPartMissing:            {"PART_MISSING", VerdictWrong, []string{"part_id", "path"}},
	VerdictPartSizeMismatch:       {"PART_SIZE_MISMATCH", VerdictWrong, []string{"part_id", "path", "expected", "actual"}},
	VerdictPartChecksumMismatch:   {"PART_CHECKSUM_MISMATCH", VerdictWrong, []string{"part_id", "path", "expected", "actual"}},
	VerdictValueChecksumMismatch:  {"VALUE_CHECKSUM", VerdictWrong, []string{"detail"}},
	VerdictPartRowCountMismatch:   {"PART_ROW_COUNT", VerdictWrong, []string{"detail"}},
	VerdictCDCPositionViolation:   {"CDC_POSITION", VerdictWrong, []string{"detail"}},
	VerdictSuccessMalformed:       {"SUCCESS_MALFORMED", VerdictWrong, []string{"body_preview"}},
	VerdictSuccessStale:           {"SUCCESS_STALE", VerdictWrong, []string{"marker_fingerprint", "manifest_fingerprint"}},
	VerdictManifestInconsistent:   {"MANIFEST_INCONSISTENT", VerdictWrong, []string{"detail"}},
	VerdictContentUnmet:           {"CONTENT_UNMET", VerdictWrong, []string{"size_only", "total"}},
	VerdictManifestRequired:       {"MANIFEST_REQUIRED", VerdictWrong, []string{"prefix"}},
	VerdictManifestMissing:        {"MANIFEST_MISSING", VerdictWrong, []string{"prefix"}},
	VerdictManifestReadError:      {"MANIFEST_READ_ERROR", VerdictUnverified, []string{"detail"}},
	VerdictSuccessReadError:       {"SUCCESS_READ_ERROR", VerdictUnverified, []string{"detail"}},
	VerdictListError:              {"LIST_ERROR", VerdictUnverified, []string{"detail"}},
	VerdictRunNotSuccessful:       {"RUN_NOT_SUCCESSFUL", VerdictUnverified, []string{"status"}},
	VerdictUntrackedObject:        {"UNTRACKED_OBJECT", VerdictNote, []string{"key", "size_bytes"}},
	VerdictValueCheckNotAvailable: {"VALUE_CHECK_NOT_AVAILABLE", VerdictNote, []string{"format"}},
}

// Code is the stable code of the kind. An unknown kind, from a newer writer,
// has the code its name suggests.
func (k VerdictKind) Code() string {
	const prefix = "RIVET_VERIFY_"
	if f, ok := verdicts[k]; ok {
		return prefix + f.code
	}
	return prefix + strings.ToUpper(string(k))
}

// Class says what the kind means. An unknown kind is Unverified: it is not
// known to be harmless.
func (k VerdictKind) Class() VerdictClass {
	if f, ok := verdicts[k]; ok {
		return f.class
	}
	return VerdictUnverified
}

// Fatal reports whether a prefix with such a finding does not pass.
func (k VerdictKind) Fatal() bool { return k.Class() != VerdictNote }

// ManifestVerification is the verdict on one prefix, with the upstream's
// fields in its order.
type ManifestVerification struct {
	ManifestFound           bool      `json:"manifest_found"`
	LegacyRun               bool      `json:"legacy_run"`
	PartsVerified           int       `json:"parts_verified"`
	PartsMD5Verified        int       `json:"parts_md5_verified"`
	PartsFailed             int       `json:"parts_failed"`
	SuccessMarkerConsistent bool      `json:"success_marker_consistent"`
	ManifestSelfConsistent  bool      `json:"manifest_self_consistent"`
	Passed                  bool      `json:"passed"`
	Failures                []Failure `json:"failures"`
	DepthLevel              string    `json:"depth_level"` // light, sample or full
}

// Add records a finding and settles Passed anew.
func (v *ManifestVerification) Add(f Failure) {
	v.Failures = append(v.Failures, f)
	v.Settle()
}

// Settle sets Passed to what the upstream means by it: a manifest was found
// and nothing fatal was. An absent marker alone is not a failure.
func (v *ManifestVerification) Settle() {
	v.Passed = v.ManifestFound && v.Class() == VerdictNote
	if v.Failures == nil {
		v.Failures = []Failure{}
	}
}

// Class is the worst class of all findings: Wrong before Unverified before
// Note, which is also that of no finding at all.
func (v *ManifestVerification) Class() VerdictClass {
	worst := VerdictNote
	for _, f := range v.Failures {
		worst = worst.Worse(f.Kind.Class())
	}
	return worst
}
