package lapstrake

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/lapstrake/lapstrake/"

// layer of a package, by the longest prefix of its path that is listed
// (ADR-0003, architecture §8).
var layers = map[string]string{
	"shared/contract": "leaf", "shared/wire": "leaf", "shared/fault": "leaf", "shared/clock": "leaf",
	"shared/keyspace": "leaf", "shared/rowtype": "leaf", "shared/rowbatch": "leaf",
	"shared/exportconfig": "L1", "shared/chunkplan": "L1", "shared/cost": "L1",
	"shared/source": "L2", "shared/partfile": "L2", "shared/destination": "L2", "shared/extract": "L2", "shared/commit": "L2", "shared/verify": "L2", "shared/prove": "L2",
	"shared/runstate": "L3", "shared/taskqueue": "L3", "shared/secrets": "L3",
	"shared/telemetry": "L4", "shared/notify": "L4", "shared/report": "L4",
	"functions":                "function",
	"functions/internal/stage": "main", // where the tests of handlers play: drivers in memory
	"shared/wiring":            "wiring",
	"cmd":                      "main", "infra": "main", "localstack": "main", "e2e": "main", "tools": "main", "bench": "main",
	"internal": "test",
}

// below says which layers a layer may import, and why no other.
var below = map[string]struct {
	may string
	why string
}{
	"leaf":     {"leaf", "a leaf is what everything else rests on"},
	"L1":       {"leaf L1", "planning has no I/O and no drivers"},
	"L2":       {"leaf L1 L2 L3", "execution knows seams, never a function or the wiring"},
	"L3":       {"leaf L1 L3", "persistence does not execute"},
	"L4":       {"leaf L1 L2 L3 L4", "observability decides nothing and is not decided by wiring"},
	"function": {"leaf L1 L2 L3 L4 function", "handlers run on any runtime: drivers come through Deps"},
	"wiring":   {"leaf L1 L2 L3 L4 function wiring", "the wiring is put together by mains"},
	"main":     {"leaf L1 L2 L3 L4 function wiring main test", ""},
	"test":     {"leaf", ""},
}

// seams are the packages of L2 to L4 whose drivers live below them: only the
// wiring, the mains and the driver itself import a driver.
var seams = []string{"shared/source", "shared/partfile", "shared/destination", "shared/runstate", "shared/taskqueue", "shared/secrets", "shared/notify"}

// cloudSDKs may be imported by drivers, wiring and mains only.
var cloudSDKs = []string{"github.com/aws/", "cloud.google.com/", "github.com/Azure/", "github.com/GoogleCloudPlatform/"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func layerOf(path string) string {
	for p := path; p != "."; {
		if isMain(path) {
			return "main"
		}
		if l, ok := layers[p]; ok {
			return l
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return ""
}

// isMain reports whether a package is the entry point of a function on a cloud.
func isMain(path string) bool {
	return strings.HasPrefix(path, "functions/") && (strings.HasSuffix(path, "/aws") || strings.HasSuffix(path, "/gcp")) || path == "functions/lambdahost"
}

// driverOf returns the seam whose driver a package is, or "".
func driverOf(path string) string {
	for _, s := range seams {
		if strings.HasPrefix(path, s+"/") {
			return s
		}
	}
	return ""
}

func TestImportsFollowTheLayers(t *testing.T) {
	all := packages(t)
	if len(all) < 20 {
		t.Fatalf("only %d packages seen: the test no longer tests anything", len(all))
	}
	for _, p := range all {
		path := strings.TrimPrefix(p.ImportPath, module)
		if path == p.ImportPath {
			continue // this package
		}
		layer := layerOf(path)
		if layer == "" {
			t.Errorf("%s has no layer: add it to layers_test.go and name its layer in the package comment", path)
			continue
		}
		for _, i := range p.Imports {
			if reason := forbidden(path, layer, i); reason != "" {
				t.Errorf("%s (%s) imports %s: %s", path, layer, i, reason)
			}
		}
	}
}

// forbidden says why a package of a layer may not import another, or "".
func forbidden(path, layer, imported string) string {
	for _, sdk := range cloudSDKs {
		if strings.HasPrefix(imported, sdk) && layer != "wiring" && layer != "main" && driverOf(path) == "" {
			return "only drivers, wiring and mains know a cloud's SDK"
		}
	}
	to, ours := strings.CutPrefix(imported, module)
	if !ours {
		return ""
	}
	toLayer := layerOf(to)
	if seam := driverOf(to); seam != "" && layer != "wiring" && layer != "main" && !strings.HasPrefix(path, seam) {
		return fmt.Sprintf("it is a driver of %s, which only the wiring imports", seam)
	}
	if isMain(to) && layer != "main" {
		return "it is an entry point"
	}
	allowed := below[layer]
	if !strings.Contains(" "+allowed.may+" ", " "+toLayer+" ") {
		return fmt.Sprintf("%s may import %s only: %s", layer, allowed.may, allowed.why)
	}
	return ""
}

// The rule itself is tested, so that it cannot rot into one that allows
// everything.
func TestForbiddenImportsAreSeen(t *testing.T) {
	for _, tc := range []struct{ path, imported, want string }{
		{"shared/contract", module + "shared/commit", "leaf may import leaf only"},
		{"shared/chunkplan", module + "shared/destination", "L1 may import"},
		{"functions/chunk", module + "shared/destination/s3", "driver of shared/destination"},
		{"functions/chunk", module + "shared/wiring", "function may import"},
		{"functions/planner", "github.com/aws/aws-sdk-go-v2/aws", "know a cloud's SDK"},
		{"shared/commit", module + "functions/chunk", "L2 may import"},
		{"shared/destination/s3", module + "shared/runstate/memory", "driver of shared/runstate"},
		{"shared/wiring", module + "functions/chunk/aws", "entry point"},
		{"shared/wiring", module + "shared/destination/s3", ""},
		{"shared/destination/s3", "github.com/aws/aws-sdk-go-v2/service/s3", ""},
	} {
		got := forbidden(tc.path, layerOf(tc.path), tc.imported)
		if tc.want == "" && got != "" || tc.want != "" && !strings.Contains(got, tc.want) {
			t.Errorf("%s imports %s: %q, want %q", tc.path, tc.imported, got, tc.want)
		}
	}
}

func TestPackageCommentsNameTheirLayer(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}", "./shared/...", "./functions/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		importPath, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		path := strings.TrimPrefix(importPath, module)
		if isMain(path) || strings.Contains(path, "/internal/") || strings.HasSuffix(path, "test") {
			continue
		}
		seen++
		if !strings.Contains(strings.Join(strings.Fields(packageComments(t, dir)), " "), "Layer: ") {
			t.Errorf("%s: the package comment does not name its layer (ADR-0003)", path)
		}
	}
	if seen < 20 {
		t.Fatalf("only %d packages seen: the test no longer tests anything", seen)
	}
}

// packageComments returns the package comments of a folder's files.
func packageComments(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(f.Doc.Text())
	}
	return all.String()
}
