package postgres

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

// bringing is a connection whose reads bring so many bytes each.
type bringing []int

func (c *bringing) Read(b []byte) (int, error) {
	if len(*c) == 0 {
		return 0, io.EOF
	}
	n := (*c)[0]
	*c = (*c)[1:]
	return min(n, len(b)), nil
}

func TestAPauseFollowsAReadThatBroughtLittle(t *testing.T) {
	for _, tc := range []struct {
		name   string
		stream bool
		brings bringing
		want   time.Duration
	}{
		{"answers to statements", false, bringing{100, 100, 100}, 0},
		{"rows as the server writes them", true, bringing{8 << 10, 8 << 10, 8 << 10}, 3 * pause},
		{"rows that are there already", true, bringing{readBytes, readBytes, readBytes}, 0},
		{"rows that come slower from the second read on", true, bringing{readBytes, 8 << 10, readBytes}, pause},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &paced{conn: &tc.brings, stream: tc.stream}
				buffer := make([]byte, readBytes)
				begun := clock.System{}.Now()
				for {
					if _, err := p.Read(buffer); err == io.EOF {
						break
					}
				}
				if took := (clock.System{}).Now().Sub(begun); took != tc.want {
					t.Errorf("it took %v, want %v", took, tc.want)
				}
			})
		})
	}
}
