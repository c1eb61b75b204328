package contract

import "testing"

// The matrix of M8, row by row.
func TestDecide(t *testing.T) {
	const a, b = Fingerprint("xxh3:aaaaaaaaaaaaaaaa"), Fingerprint("xxh3:bbbbbbbbbbbbbbbb")
	for _, tc := range []struct {
		name     string
		recorded *Recorded
		found    *Found
		want     Decision
	}{
		{"recorded, present, equal", &Recorded{10, a, "m"}, &Found{10, a, "m"}, Skip},
		{"equal as far as the store says", &Recorded{10, a, "m"}, &Found{10, "", ""}, Skip},
		{"equal as far as the record says", &Recorded{10, "", ""}, &Found{10, a, "m"}, Skip},
		{"equal by MD5 alone", &Recorded{10, "", "m"}, &Found{10, a, "m"}, Skip},
		{"empty and equal", &Recorded{0, a, ""}, &Found{0, a, ""}, Skip},
		{"recorded and missing", &Recorded{10, a, "m"}, nil, Rewrite},
		{"another size", &Recorded{10, a, "m"}, &Found{11, a, "m"}, QuarantineAndRewrite},
		{"another size, nothing else known", &Recorded{10, "", ""}, &Found{11, "", ""}, QuarantineAndRewrite},
		{"another fingerprint", &Recorded{10, a, "m"}, &Found{10, b, "m"}, QuarantineAndRewrite},
		{"another MD5", &Recorded{10, a, "m"}, &Found{10, a, "n"}, QuarantineAndRewrite},
		{"another MD5, fingerprint unknown", &Recorded{10, "", "m"}, &Found{10, a, "n"}, QuarantineAndRewrite},
		{"not recorded", nil, &Found{10, a, "m"}, Quarantine},
		{"not recorded and not there", nil, nil, Quarantine},
	} {
		for range 2 {
			if got := Decide(tc.recorded, tc.found); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
			}
		}
	}
}
