package lambdahost

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

func TestMetricsHaveTheDimensionsOfTheDeployment(t *testing.T) {
	for _, tc := range []struct {
		name            string
		env             map[string]string
		stack, function string
	}{
		{"as the deployment says", map[string]string{"LAPSTRAKE_STACK": "lake", "AWS_LAMBDA_FUNCTION_NAME": "lake-chunk"}, "lake", "lake-chunk"},
		{"without a word of it", nil, "lapstrake", "local"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			m := metrics(&out, clock.System{}, func(name string) (string, bool) { v, ok := tc.env[name]; return v, ok })
			m.Count(telemetry.RowsRead, 12, slog.String(telemetry.AttrExport, "orders"))
			var got struct {
				Stack, Function, Export string
				RowsRead                int
			}
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatalf("%s: %v", out.Bytes(), err)
			}
			if got.Stack != tc.stack || got.Function != tc.function || got.Export != "orders" || got.RowsRead != 12 {
				t.Errorf("wrote %s", out.Bytes())
			}
		})
	}
}
