package contract

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Names of the control objects of a prefix (reference §5.2).
const (
	ManifestName = "manifest.json"
	SuccessName  = "_SUCCESS"

	// ControlDir holds fence, plans and reports, below the root. Readers that
	// follow the leading-underscore convention never look into it.
	ControlDir = "_lapstrake"

	quarantineDir = "_quarantine"
	sidecarPrefix = "manifest-"
	sidecarSuffix = ".json"
)

var unsafeInToken = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// Token is the upstream's sidecar sanitiser: every character outside
// [A-Za-z0-9._-] becomes "-". It is not injective: two exports whose names
// collide are refused by the config.
func Token(s string) string { return unsafeInToken.ReplaceAllString(s, "-") }

// SidecarName returns the name of the immutable copy of a run's manifest, the
// run's commit point (D15).
func SidecarName(run RunID) string { return sidecarPrefix + Token(string(run)) + sidecarSuffix }

// IsSidecarName reports whether an object directly in a prefix is such a copy,
// of any run. Those are never untracked, whoever wrote them (M8).
func IsSidecarName(name string) bool {
	return strings.HasPrefix(name, sidecarPrefix) && strings.HasSuffix(name, sidecarSuffix) &&
		len(name) >= len(sidecarPrefix)+len(sidecarSuffix)
}

// CursorKey returns the key, below the root, of the fence and cursor of an
// export (M10).
func CursorKey(export ExportName) string { return path.Join(ExportDir(export), "cursor.json") }

// ExportDir returns the control folder of an export, below the root.
func ExportDir(export ExportName) string { return path.Join(ControlDir, Token(string(export))) }

// RunsDir returns the folder of an export's run folders, with a final slash.
func RunsDir(export ExportName) string { return path.Join(ExportDir(export), "runs") + "/" }

// GenerationsDir returns the folder of an export's generations, with a final
// slash.
func GenerationsDir(export ExportName) string {
	return path.Join(ExportDir(export), "generations") + "/"
}

// newestFirst is what the names of generations count down from, so that a
// listing of any length begins with the newest one.
const newestFirst = 9_999_999_999

// GenerationKey returns the key of the trace of a generation, below the root.
func GenerationKey(export ExportName, g Generation) string {
	return fmt.Sprintf("%s%010d-g%06d.json", GenerationsDir(export), newestFirst-g, g)
}

var generationName = regexp.MustCompile(`^\d{10}-g(\d{6,})\.json$`)

// TracedGeneration reads the generation from the name of its trace, 0 from any
// other name.
func TracedGeneration(name string) Generation { return numbered(generationName, name) }

// RunDir returns the control folder of one run, below the root.
func RunDir(export ExportName, run RunID) string {
	return path.Join(ExportDir(export), "runs", Token(string(run)))
}

// PlanKey returns the key of the frozen plan of a run, below the root.
func PlanKey(export ExportName, run RunID) string { return path.Join(RunDir(export, run), "plan.json") }

// RecordKey returns the key of the record of one generation of a run.
func RecordKey(export ExportName, run RunID, g Generation) string {
	return path.Join(RunDir(export, run), fmt.Sprintf("record-g%06d.json", g))
}

var recordName = regexp.MustCompile(`^record-g(\d{6,})\.json$`)

// RecordGeneration reads the generation from the name of a run record, 0 from
// any other name.
func RecordGeneration(name string) Generation { return numbered(recordName, name) }

func numbered(pattern *regexp.Regexp, name string) Generation {
	m := pattern.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0
	}
	return Generation(n)
}

// SummaryKey returns the key of a run's report with the given extension
// ("json", "md" or "html").
func SummaryKey(export ExportName, run RunID, ext string) string {
	return path.Join(RunDir(export, run), "summary."+ext)
}

// VerdictKey returns the key of the validator's verdict on the manifest with
// fingerprint f.
func VerdictKey(export ExportName, run RunID, f Fingerprint) string {
	return path.Join(RunDir(export, run), "verdict-"+f.Hex()+".json")
}

// QuarantineName returns where the object called name goes when a resume of
// run moves it out of the way (M9). Both are relative to the prefix.
func QuarantineName(run RunID, name string) string {
	return path.Join(quarantineDir, Token(string(run)), name)
}

// PartNaming says how the parts of one attempt are called, so that two
// generations never share a name and the generation of any part can be read
// from it (architecture §2.5).
type PartNaming struct {
	Generation Generation
	// Plain is true for the first generation of a run whose prefix it has for
	// itself, or of an export: such parts carry no generation in their name.
	Plain bool
	// Ext is "parquet" or "csv".
	Ext string
}

// Name returns the name of the part with sequence number seq (from 0) of task:
// part-000001.parquet, part-000001-s01-002.parquet,
// part-g000012-000001.parquet. Repair tasks share the names of the task that
// they repair; a name that is taken by other content gets its fingerprint
// appended.
func (n PartNaming) Name(task TaskID, seq int) string {
	base, _ := task.Base()
	var b strings.Builder
	b.WriteString("part-")
	if !n.Plain {
		fmt.Fprintf(&b, "g%06d-", n.Generation)
	}
	fmt.Fprintf(&b, "%06d", base+1)
	for _, s := range strings.Split(task.Suffix(), ".") {
		if strings.HasPrefix(s, "s") {
			b.WriteString("-" + s)
		}
	}
	if seq > 0 {
		fmt.Fprintf(&b, "-%03d", seq+1)
	}
	return b.String() + "." + n.Ext
}

// Distinct returns name with the fingerprint of its content before the
// extension, for a part whose plain name is taken by other bytes.
func Distinct(name string, f Fingerprint) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + f.Hex() + ext
}

var partName = regexp.MustCompile(`^part-(?:g(\d{6,})-)?\d{6,}(?:-s\d{2,})*(?:-\d{3,})?(?:-[0-9a-f]{16})?\.(?:parquet|csv)$`)

// PartGeneration reads the generation from the name of a part. plain is true
// for a name without one: its generation is the run's first. ok is false for
// a name that is not one of ours.
func PartGeneration(name string) (g Generation, plain, ok bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return 0, false, false
	}
	if m[1] == "" {
		return 0, true, true
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return Generation(n), false, err == nil
}

// PartPrefix returns a common start of the names of all parts with this
// naming, for a listing that does not scan years of other runs. The names of
// later generations start with that of the plain ones, so a caller tells them
// apart by PartGeneration.
func (n PartNaming) PartPrefix() string {
	if n.Plain {
		return "part-"
	}
	return fmt.Sprintf("part-g%06d-", n.Generation)
}

// ControlFolders returns how many folders the control of a manifest, the relative
// path from its prefix to the root, leads up. ok is false for any other path:
// the root is the prefix or a folder around it.
func ControlFolders(control string) (up int, ok bool) {
	if control == "." {
		return 0, true
	}
	steps := strings.Split(control, "/")
	for _, step := range steps {
		if step != ".." {
			return 0, false
		}
	}
	return len(steps), true
}
