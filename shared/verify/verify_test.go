package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

const (
	part1 = "part-g000002-000001.csv"
	part2 = "part-g000002-000002.csv"
)

func flip(b []byte) []byte { b[3] ^= 1; return b }

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

func TestEveryFindingHasItsKindAndWeight(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(p *prefix)
		o      Options
		like   destination.Capabilities // LikeS3 unless set
		want   []string
		class  contract.VerdictClass
		passed bool
		failed int // parts
	}{
		{name: "nothing is wrong", passed: true},
		{name: "nothing is wrong, looked at to the bottom", o: Options{Depth: Full}, passed: true, want: []string{"VALUE_CHECK_NOT_AVAILABLE"}},
		{name: "nothing is looked at but the pair", o: Options{Depth: Light}, damage: func(p *prefix) { p.remove(part1) }, passed: true},

		{name: "a part is gone", damage: func(p *prefix) { p.remove(part1) },
			want: []string{"PART_MISSING " + part1}, class: contract.VerdictWrong, failed: 1},
		{name: "a part is cut", damage: func(p *prefix) { p.edit(part2, func(b []byte) []byte { return b[:9] }) },
			want: []string{"PART_SIZE_MISMATCH " + part2}, class: contract.VerdictWrong, failed: 1},
		{name: "a byte has flipped and the store knows xxh3", damage: func(p *prefix) { p.edit(part1, flip) }, // MAN-11
			want: []string{"PART_CHECKSUM_MISMATCH " + part1}, class: contract.VerdictWrong, failed: 1},
		{name: "a byte has flipped and the store lists MD5", like: memory.LikeGCS, damage: func(p *prefix) { p.edit(part1, flip) },
			want: []string{"PART_CHECKSUM_MISMATCH " + part1}, class: contract.VerdictWrong, failed: 1},
		{name: "a byte has flipped and the store knows sizes only", like: likeDisk, damage: func(p *prefix) { p.edit(part1, flip) }, passed: true},
		{name: "a byte has flipped and the part is downloaded", like: likeDisk, o: Options{Depth: Full}, damage: func(p *prefix) { p.edit(part1, flip) },
			want: []string{"PART_CHECKSUM_MISMATCH " + part1, "VALUE_CHECK_NOT_AVAILABLE"}, class: contract.VerdictWrong, failed: 1},
		{name: "content is demanded of a store that knows sizes only", like: likeDisk, o: Options{VerifyContent: true},
			want: []string{"CONTENT_UNMET"}, class: contract.VerdictWrong},
		{name: "content is demanded and a light look is not enough", like: likeDisk, o: Options{VerifyContent: true, Depth: Light},
			want: []string{"CONTENT_UNMET"}, class: contract.VerdictWrong},
		{name: "content is demanded and proven by the store", o: Options{VerifyContent: true}, passed: true},
		{name: "content is demanded and proven by download", like: likeDisk, o: Options{VerifyContent: true, Depth: Full},
			want: []string{"VALUE_CHECK_NOT_AVAILABLE"}, passed: true},
		{name: "the manifest counts another number of rows than the file", o: Options{Depth: Full}, damage: func(p *prefix) {
			p.manifest.Parts[0].Rows++
			p.manifest.RowCount++
			p.republish()
		}, want: []string{"PART_ROW_COUNT", "VALUE_CHECK_NOT_AVAILABLE"}, class: contract.VerdictWrong, failed: 1},

		{name: "the marker is not there yet", damage: func(p *prefix) { p.remove("_SUCCESS") }, passed: true},
		{name: "the marker is of another manifest", damage: func(p *prefix) { p.put("_SUCCESS", []byte("xxh3:0123456789abcdef\n")) },
			want: []string{"SUCCESS_STALE"}, class: contract.VerdictWrong},
		{name: "the manifest was written anew with other spaces", damage: func(p *prefix) { p.edit("manifest.json", replace("  ", "\t")) },
			want: []string{"SUCCESS_STALE"}, class: contract.VerdictWrong},
		{name: "the manifest is gone under its marker", damage: func(p *prefix) { p.remove("manifest.json") }, // MAN-04
			want: []string{"MANIFEST_MISSING"}, class: contract.VerdictWrong},
		{name: "the manifest is gone under a damaged marker", damage: func(p *prefix) { p.remove("manifest.json"); p.put("_SUCCESS", []byte("?")) },
			want: []string{"MANIFEST_MISSING"}, class: contract.VerdictWrong},
		{name: "a prefix that somebody expects a manifest in has none", o: Options{Required: true},
			damage: func(p *prefix) { p.remove("manifest.json"); p.remove("_SUCCESS") },
			want:   []string{"MANIFEST_REQUIRED"}, class: contract.VerdictWrong},

		{name: "the manifest is not JSON", damage: func(p *prefix) { p.put("manifest.json", []byte("{")) },
			want: []string{"MANIFEST_INCONSISTENT", "SUCCESS_STALE"}, class: contract.VerdictWrong},
		{name: "the manifest has a version of the future", damage: func(p *prefix) { p.edit("manifest.json", replace(`"manifest_version": 1`, `"manifest_version": 2`)) },
			want: []string{"MANIFEST_INCONSISTENT", "SUCCESS_STALE"}, class: contract.VerdictWrong},
		{name: "the manifest does not add up", damage: func(p *prefix) { p.edit("manifest.json", replace(`"row_count": 6`, `"row_count": 7`)) },
			want: []string{"MANIFEST_INCONSISTENT", "SUCCESS_STALE"}, class: contract.VerdictWrong},
		{name: "the manifest names an object outside the prefix", damage: func(p *prefix) {
			p.edit("manifest.json", replace(part1, "../removed/x"))
			p.put("_SUCCESS", contract.SuccessBody(p.get("manifest.json")))
		}, want: []string{"MANIFEST_INCONSISTENT", "PART_MISSING ../removed/x", "UNTRACKED_OBJECT " + part1}, class: contract.VerdictWrong, failed: 1},
		{name: "the manifest has a field of the future", damage: func(p *prefix) {
			p.edit("manifest.json", replace(`"mode"`, `"colour": {"a": [1]}, "mode"`))
			p.put("_SUCCESS", contract.SuccessBody(p.get("manifest.json")))
		}, passed: true},
		{name: "the run that published has failed", damage: func(p *prefix) { p.manifest.Status = contract.StatusFailed; p.republish() },
			want: []string{"RUN_NOT_SUCCESSFUL"}, class: contract.VerdictUnverified},
		{name: "a run without rows", damage: func(p *prefix) {
			p.remove(part1)
			p.remove(part2)
			p.manifest.Parts, p.manifest.PartCount, p.manifest.RowCount = nil, 0, 0
			p.republish()
		}, o: Options{VerifyContent: true}, passed: true},

		{name: "everything at once, in the upstream's order", like: likeDisk, o: Options{VerifyContent: true}, damage: func(p *prefix) {
			p.edit("manifest.json", replace(`"success"`, `"failed"`))
			p.edit("manifest.json", replace(`"row_count": 6`, `"row_count": 7`))
			p.remove(part1)
			p.put("report.xlsx", []byte("x"))
		}, want: []string{"MANIFEST_INCONSISTENT", "RUN_NOT_SUCCESSFUL", "PART_MISSING " + part1, "CONTENT_UNMET", "SUCCESS_STALE", "UNTRACKED_OBJECT report.xlsx"},
			class: contract.VerdictWrong, failed: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.like.CommitProtocol == "" {
				tc.like = memory.LikeS3
			}
			if tc.class == "" {
				tc.class = contract.VerdictNote
			}
			p := publish(t, tc.like, 2)
			if tc.damage != nil {
				tc.damage(p)
			}
			r := p.verify(tc.o)
			v := r.Verification
			if d := cmp.Diff(tc.want, codes(v.Failures)); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
			if v.Passed != tc.passed || v.Class() != tc.class || v.PartsFailed != tc.failed || r.Unanswered != nil {
				t.Errorf("passed %v, class %s, %d parts failed, unanswered %v; want %v, %s, %d, nil", v.Passed, v.Class(), v.PartsFailed, r.Unanswered, tc.passed, tc.class, tc.failed)
			}
		})
	}
}

// sparing fails when more of a marker is asked for than a marker can have.
type sparing struct{ *prefix }

func (s sparing) Get(ctx context.Context, key string, limit int64) ([]byte, destination.Version, error) {
	if key == contract.SuccessName && limit > contract.MaxSuccessBytes {
		s.t.Errorf("%d bytes of a marker were asked for", limit)
	}
	return s.prefix.Get(ctx, key, limit)
}

func TestAHostileMarkerIsNeverTakenForOne(t *testing.T) {
	p := publish(t, memory.LikeS3, 1)
	right := string(p.get("_SUCCESS"))
	for name, body := range map[string]string{
		"empty": "", "far too large": strings.Repeat("x", 1<<20), "multibyte": "xxh3:0123456789abcdeé", "byte order mark": "\ufeff" + right,
		"upper case": strings.ToUpper(right), "two lines": right + right, "21 bytes and one short": right[:20], "a page of HTML": "<html>",
		"NUL": "\x00", "invalid UTF-8": "\xff\xfe", "leading space": " " + right,
	} {
		p.put("_SUCCESS", []byte(body))
		r, err := Verify(t.Context(), sparing{p}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"SUCCESS_MALFORMED"}, codes(r.Verification.Failures)); d != "" || r.Marker != MarkerMalformed || r.Verification.Passed {
			t.Errorf("%s: %s, %s", name, r.Marker, d)
		}
		if _, err := json.Marshal(r.Verification); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, body := range map[string]string{"no final newline": strings.TrimSpace(right), "a Windows line end": strings.TrimSpace(right) + "\r\n"} {
		p.put("_SUCCESS", []byte(body))
		if r := p.verify(Options{}); r.Marker != MarkerConsistent {
			t.Errorf("%s: %s", name, r.Marker)
		}
	}
}

func TestOutputWithoutAManifestIsLabelled(t *testing.T) { // MAN-14
	for _, tc := range []struct {
		name   string
		marker []byte // nil for none
	}{
		{name: "files and nothing else"},
		{name: "files and the empty marker of the Hadoop convention", marker: []byte{}},
	} {
		p := publish(t, memory.LikeS3, 1)
		p.remove("manifest.json")
		p.remove("_SUCCESS")
		if tc.marker != nil {
			p.put("_SUCCESS", tc.marker)
		}
		want := contract.ManifestVerification{LegacyRun: true, Failures: []contract.Failure{}, DepthLevel: "sample"}
		if d := cmp.Diff(want, p.verify(Options{}).Verification); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

// A prefix in which no reader finds anything is no legacy run, which would pass
// unseen: its manifest is missing. That holds for the traces of a run that has
// not published too.
func TestAPrefixWithoutDataIsNoLegacyRun(t *testing.T) {
	for name, key := range map[string]string{
		"nothing": "", "a control folder": "_lapstrake/orders/cursor.json", "what was quarantined": "_quarantine/r1/part-000001.csv", "a tombstone": contract.SidecarName("r1"),
	} {
		p := publish(t, memory.LikeS3, 0)
		p.remove("manifest.json")
		p.remove("_SUCCESS")
		if key != "" {
			p.put(key, []byte("x"))
		}
		v := p.verify(Options{}).Verification
		if v.LegacyRun || v.Passed || !cmp.Equal(codes(v.Failures), []string{"MANIFEST_REQUIRED"}) {
			t.Errorf("%s: legacy %v, findings %v", name, v.LegacyRun, codes(v.Failures))
		}
	}
}

func TestCountsSayHowMuchIsProven(t *testing.T) {
	for _, tc := range []struct {
		name             string
		like             destination.Capabilities
		depth            Depth
		verified, proven int
	}{
		{name: "S3 knows the fingerprint, by Head", like: memory.LikeS3, depth: Sample, verified: 3, proven: 3},
		{name: "GCS lists MD5s", like: memory.LikeGCS, depth: Sample, verified: 3, proven: 3},
		{name: "a disk knows sizes", like: likeDisk, depth: Sample, verified: 3}, // DST-11
		{name: "a disk whose files are read", like: likeDisk, depth: Full, verified: 3, proven: 3},
		{name: "a light look", like: memory.LikeS3, depth: Light},
	} {
		r := publish(t, tc.like, 3).verify(Options{Depth: tc.depth})
		v := r.Verification
		if v.PartsVerified != tc.verified || v.PartsMD5Verified != tc.proven || r.SizeOnly != tc.verified-tc.proven {
			t.Errorf("%s: %d verified, %d proven, %d by size; want %d, %d", tc.name, v.PartsVerified, v.PartsMD5Verified, r.SizeOnly, tc.verified, tc.proven)
		}
	}
}

func TestAllPagesOfAListingAreRead(t *testing.T) {
	p := publish(t, memory.LikeGCS, 2001)
	if v := p.verify(Options{}).Verification; v.PartsVerified != 2001 || !v.Passed {
		t.Errorf("%d of 2001 parts verified: %v", v.PartsVerified, codes(v.Failures))
	}
	last := p.manifest.Parts[2000].Path
	p.remove(last)
	if d := cmp.Diff([]string{"PART_MISSING " + last}, codes(p.verify(Options{}).Verification.Failures)); d != "" {
		t.Error(d)
	}
}
