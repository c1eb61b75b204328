package contract

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every kind of reference §6.1 with its code, its fields and what it means.
func TestVerdicts(t *testing.T) {
	part := Part{PartID: 3, Path: "p.parquet", SizeBytes: 10}
	const prefix = "RIVET_VERIFY_"
	seen := map[VerdictKind]bool{}
	for _, tc := range []struct {
		failure Failure
		json    string
		class   VerdictClass
	}{
		{PartMissing(part), `{"kind":"part_missing","part_id":3,"path":"p.parquet","code":"` + prefix + `PART_MISSING"}`, VerdictWrong},
		{PartSizeMismatch(part, 9), `{"kind":"part_size_mismatch","part_id":3,"path":"p.parquet","expected":10,"actual":9,"code":"` + prefix + `PART_SIZE_MISMATCH"}`, VerdictWrong},
		{PartChecksumMismatch(part, "a==", "b=="), `{"kind":"part_checksum_mismatch","part_id":3,"path":"p.parquet","expected":"a==","actual":"b==","code":"` + prefix + `PART_CHECKSUM_MISMATCH"}`, VerdictWrong},
		{Detailed(VerdictValueChecksumMismatch, "column %q", "id"), `{"kind":"value_checksum_mismatch","detail":"column \"id\"","code":"` + prefix + `VALUE_CHECKSUM"}`, VerdictWrong},
		{Detailed(VerdictPartRowCountMismatch, "d"), `{"kind":"part_row_count_mismatch","detail":"d","code":"` + prefix + `PART_ROW_COUNT"}`, VerdictWrong},
		{Detailed(VerdictCDCPositionViolation, "d"), `{"kind":"cdc_position_violation","detail":"d","code":"` + prefix + `CDC_POSITION"}`, VerdictWrong},
		{SuccessMalformed([]byte("ok\xff\n")), `{"kind":"success_marker_malformed","body_preview":"ok` + "\uFFFD" + `\n","code":"` + prefix + `SUCCESS_MALFORMED"}`, VerdictWrong},
		{SuccessStale("xxh3:a", "xxh3:b"), `{"kind":"success_marker_stale","marker_fingerprint":"xxh3:a","manifest_fingerprint":"xxh3:b","code":"` + prefix + `SUCCESS_STALE"}`, VerdictWrong},
		{Detailed(VerdictManifestInconsistent, "d"), `{"kind":"manifest_self_inconsistent","detail":"d","code":"` + prefix + `MANIFEST_INCONSISTENT"}`, VerdictWrong},
		{ContentUnmet(2, 5), `{"kind":"content_verification_unmet","size_only":2,"total":5,"code":"` + prefix + `CONTENT_UNMET"}`, VerdictWrong},
		{ManifestRequired("p/"), `{"kind":"manifest_required_but_absent","prefix":"p/","code":"` + prefix + `MANIFEST_REQUIRED"}`, VerdictWrong},
		{ManifestMissing("p/"), `{"kind":"manifest_missing_under_marker","prefix":"p/","code":"` + prefix + `MANIFEST_MISSING"}`, VerdictWrong},
		{Detailed(VerdictManifestReadError, "d"), `{"kind":"manifest_read_error","detail":"d","code":"` + prefix + `MANIFEST_READ_ERROR"}`, VerdictUnverified},
		{Detailed(VerdictSuccessReadError, "d"), `{"kind":"success_marker_read_error","detail":"d","code":"` + prefix + `SUCCESS_READ_ERROR"}`, VerdictUnverified},
		{Detailed(VerdictListError, "d"), `{"kind":"list_prefix_error","detail":"d","code":"` + prefix + `LIST_ERROR"}`, VerdictUnverified},
		{RunNotSuccessful(StatusFailed), `{"kind":"run_not_successful","status":"failed","code":"` + prefix + `RUN_NOT_SUCCESSFUL"}`, VerdictUnverified},
		{UntrackedObject("k", 7), `{"kind":"untracked_object","key":"k","size_bytes":7,"code":"` + prefix + `UNTRACKED_OBJECT"}`, VerdictNote},
		{ValueCheckNotAvailable("csv"), `{"kind":"value_check_not_available","format":"csv","code":"` + prefix + `VALUE_CHECK_NOT_AVAILABLE"}`, VerdictNote},
		{Failure{Kind: "made_up_later"}, `{"kind":"made_up_later","code":"` + prefix + `MADE_UP_LATER"}`, VerdictUnverified},
	} {
		seen[tc.failure.Kind] = true
		body, err := json.Marshal(tc.failure)
		if err != nil {
			t.Fatal(err)
		}
		if string(body) != tc.json {
			t.Errorf("%s\nwant %s", body, tc.json)
		}
		var back Failure
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.failure, back); diff != "" {
			t.Errorf("%s (-want +read back)\n%s", tc.failure.Kind, diff)
		}
		if got := tc.failure.Kind.Class(); got != tc.class || tc.failure.Kind.Fatal() != (tc.class != VerdictNote) {
			t.Errorf("%s: class %s, fatal %v", tc.failure.Kind, got, tc.failure.Kind.Fatal())
		}
	}
	for kind := range verdicts {
		if !seen[kind] {
			t.Errorf("%s is not tested", kind)
		}
	}
}

func TestManifestVerificationPasses(t *testing.T) {
	note, doubt, wrong := UntrackedObject("k", 1), Detailed(VerdictListError, "d"), ContentUnmet(1, 1)
	for _, tc := range []struct {
		name   string
		found  bool
		add    []Failure
		passed bool
		class  VerdictClass
	}{
		{"a manifest and no finding", true, nil, true, VerdictNote},
		{"a note does not matter", true, []Failure{note}, true, VerdictNote},
		{"no manifest", false, nil, false, VerdictNote},
		{"unverified", true, []Failure{doubt, note}, false, VerdictUnverified},
		{"wrong before unverified, in any order", true, []Failure{doubt, wrong, note}, false, VerdictWrong},
		{"wrong before unverified, the other way round", true, []Failure{wrong, doubt}, false, VerdictWrong},
	} {
		v := ManifestVerification{ManifestFound: tc.found}
		v.Settle()
		for _, f := range tc.add {
			v.Add(f)
		}
		if v.Passed != tc.passed || v.Class() != tc.class || v.Failures == nil {
			t.Errorf("%s: %+v, class %s", tc.name, v, v.Class())
		}
	}
}
