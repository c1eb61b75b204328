package contract

// Recorded is what is known of a part from the manifest or the run's table.
type Recorded struct {
	SizeBytes   int64
	Fingerprint Fingerprint // "" when unknown
	MD5         string      // "" when unknown
}

// Found is what a listing says of an object.
type Found struct {
	SizeBytes   int64
	Fingerprint Fingerprint // "" when the store does not say
	MD5         string      // "" when the store does not say
}

// Decision is what a resume does about one name.
type Decision string

const (
	Skip                 Decision = "skip"               // recorded, present and equal: keep it
	Rewrite              Decision = "rewrite"            // recorded and missing: do its task again
	QuarantineAndRewrite Decision = "quarantine_rewrite" // recorded, present and different
	Quarantine           Decision = "quarantine"         // present and not recorded
)

// Decide is the resume matrix of M8 as a pure function: the same inputs give
// the same decision on every run. A nil recorded means that nothing records
// the name; a nil found, that no object has it. Components that one side does
// not know are not compared (M3 on what is known).
func Decide(recorded *Recorded, found *Found) Decision {
	switch {
	case recorded == nil:
		return Quarantine
	case found == nil:
		return Rewrite
	case recorded.SizeBytes != found.SizeBytes,
		differ(string(recorded.Fingerprint), string(found.Fingerprint)),
		differ(recorded.MD5, found.MD5):
		return QuarantineAndRewrite
	}
	return Skip
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }
