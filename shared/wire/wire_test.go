package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

func TestDecodeRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		code       fault.Code // "" when the message is read
	}{
		{"a task", `{"version":1,"run":{"export":"o","run_id":"o_1","generation":1,"root":{"kind":"local","uri":"file:///x"}},"task":"000001"}`, ""},
		{"another version", `{"version":2,"run":{},"task":"000001"}`, "LAPSTRAKE_RUN_MESSAGE_VERSION"},
		{"no version", `{"run":{},"task":"000001"}`, "LAPSTRAKE_RUN_MESSAGE_VERSION"},
		{"a field from the future", `{"version":1,"run":{},"task":"000001","only_even_rows":true}`, "LAPSTRAKE_RUN_MESSAGE_INVALID"},
		{"two messages", `{"version":1,"run":{},"task":"000001"}{}`, "LAPSTRAKE_RUN_MESSAGE_INVALID"},
		{"no JSON", `<x>`, "LAPSTRAKE_RUN_MESSAGE_INVALID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Decode[ChunkTask]([]byte(tc.body))
			if got := fault.CodeOf(err); got != tc.code || (tc.code == "") != (err == nil) {
				t.Fatalf("error %v with code %q, want code %q", err, got, tc.code)
			}
		})
	}
}

func TestMessageStaysSmall(t *testing.T) { // QUE-13
	m := ChunkTask{Version: Version, Task: "049999.s12.r3"}
	m.Run.Export = "public.orders"
	m.Run.Root.URI = "s3://" + strings.Repeat("b", 63) + "/" + strings.Repeat("p", 500)
	b, err := json.Marshal(m)
	if err != nil || len(b) > 2048 {
		t.Fatalf("a task message has %d bytes (%v), want at most 2048", len(b), err)
	}
}
