package commit

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Metadata keys of a part, where the store keeps metadata.
const (
	MetaRun         = "lapstrake-run"
	MetaGeneration  = "lapstrake-gen"
	MetaTask        = "lapstrake-task"
	MetaFingerprint = "lapstrake-xxh3"
	MetaRows        = "lapstrake-rows"
)

// PartSpec says which part of which attempt is stored.
type PartSpec struct {
	Run    contract.RunID
	Task   contract.TaskID
	Seq    int // from 0 inside the attempt
	Naming contract.PartNaming
}

// PutPart stores a finished part in the prefix and returns its record. It never
// overwrites: a name that other bytes have is left alone, and the part gets its
// fingerprint into its name. Bytes that are there already, put by an earlier
// attempt of the same run and generation, are adopted (architecture §2.5).
//
// A stored part counts only once its record is in the completed chunk item;
// until then it is an untracked object and no more.
func PutPart(ctx context.Context, prefix destination.Store, spec PartSpec, part partfile.Part) (runstate.PartRecord, error) {
	meta := destination.Meta{
		ContentType: contentType(spec.Naming.Ext),
		Fingerprint: part.Fingerprint,
		MD5:         part.MD5,
		User: map[string]string{
			MetaRun:         contract.Token(string(spec.Run)),
			MetaGeneration:  strconv.FormatInt(int64(spec.Naming.Generation), 10),
			MetaTask:        string(spec.Task),
			MetaFingerprint: part.Fingerprint.Hex(),
			MetaRows:        strconv.FormatInt(part.Rows, 10),
		},
	}
	plain := spec.Naming.Name(spec.Task, spec.Seq)
	for _, name := range []string{plain, contract.Distinct(plain, part.Fingerprint)} {
		stored, err := storePart(ctx, prefix, name, part, meta)
		if err != nil {
			return runstate.PartRecord{}, fmt.Errorf("store part %s: %w", name, err)
		}
		if stored {
			return runstate.PartRecord{Path: name, Rows: part.Rows, SizeBytes: int64(len(part.Body)), Fingerprint: part.Fingerprint, MD5: part.MD5}, nil
		}
	}
	return runstate.PartRecord{}, fault.New(fault.Integrity, "LAPSTRAKE_DEST_PART_NAME_TAKEN",
		"run %s task %s: an object named by the fingerprint %s holds other bytes; nothing was overwritten, look at the object before the run is resumed",
		spec.Run, spec.Task, part.Fingerprint)
}

// storePart creates name, or adopts what is there. false means that the name
// belongs to another object.
func storePart(ctx context.Context, prefix destination.Store, name string, part partfile.Part, meta destination.Meta) (bool, error) {
	for try := 1; ; try++ {
		_, err := prefix.Create(ctx, name, part.Body, meta)
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, destination.ErrExists) && !errors.Is(err, destination.ErrUndecided):
			return false, err
		}
		there, headErr := prefix.Head(ctx, name)
		switch {
		case headErr == nil:
			return samePart(there, part, meta), nil
		case !errors.Is(headErr, destination.ErrNotFound):
			return false, errors.Join(err, headErr)
		case try == undecidedTries:
			return false, err
		}
	}
}

// samePart reports whether the object there is this part of this run and
// generation. The name carries the generation and, unless it is a plain one,
// belongs to no other; metadata says the same where the store keeps it. An
// object whose content nobody vouches for is not adopted.
func samePart(there destination.Object, part partfile.Part, meta destination.Meta) bool {
	if there.Size != int64(len(part.Body)) {
		return false
	}
	for _, key := range []string{MetaRun, MetaGeneration} {
		if v, kept := there.User[key]; kept && v != meta.User[key] {
			return false
		}
	}
	switch {
	case there.Fingerprint != "":
		return there.Fingerprint == part.Fingerprint
	case there.MD5 != "":
		return there.MD5 == part.MD5
	}
	return there.User[MetaFingerprint] == meta.User[MetaFingerprint]
}

func contentType(ext string) string {
	if ext == "csv" {
		return "text/csv; charset=utf-8"
	}
	return "application/vnd.apache.parquet"
}
