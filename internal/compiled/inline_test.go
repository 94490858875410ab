package compiled_test

import (
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	// So that the go command runs these tests again, instead of repeating a
	// result, when an allocator changes.
	_ "github.com/haven-mem/haven/internal/compiled/callsite"
)

// budget is the cost up to which the compiler inlines a function (GC.md fact
// 11). The tests report every cost against it, so that a change that comes
// close is seen before one that goes over.
const budget = 80

// module is the prefix of package paths in the compiler's output.
const module = "github.com/haven-mem/haven/"

// report is what the compiler says about inlining while it compiles the
// module's packages and callsite's instances of their generic functions.
var report = sync.OnceValues(func() (string, error) {
	return compile(module + "...=-m=2")
})

// compile compiles package callsite. The go command repeats the compiler's
// messages when it has the package in its cache.
func compile(gcflags string) (string, error) {
	out, err := exec.Command("go", "build", "-gcflags="+gcflags, "./callsite").CombinedOutput()
	return string(out), err
}

// inlining returns the compiler's report.
func inlining(t *testing.T) string {
	t.Helper()
	out, err := report()
	if err != nil {
		t.Fatalf("go build: %v\n%.2000s", err, out)
	}
	return out
}

// TestFastPathsFitBudget checks that the compiler calls each fast path
// inlinable, and reports at what cost.
func TestFastPathsFitBudget(t *testing.T) {
	out := inlining(t)
	for _, path := range []struct{ name, pattern string }{
		{"Lane[int].New", `arena\.\(\*Lane\[go\.shape\.int\]\)\.New`},
		{"Lane[node].New", `arena\.\(\*Lane\[go\.shape\.struct \{.*callsite\.left.*\}\]\)\.New`},
		{"arena.Push[*node]", `arena\.Push\[go\.shape\.\*uint8\]`},
		{"bump.New[int]", `bump\.New\[go\.shape\.int\]`},
		{"bump.New[node]", `bump\.New\[go\.shape\.struct \{.*callsite\.left.*\}\]`},
		{"Local[int].Alloc", `slab\.\(\*Local\[go\.shape\.int\]\)\.Alloc`},
		{"Local[node].Alloc", `slab\.\(\*Local\[go\.shape\.struct \{.*callsite\.left.*\}\]\)\.Alloc`},
		{"Local[int].Free", `slab\.\(\*Local\[go\.shape\.int\]\)\.Free`},
		{"Local[node].Free", `slab\.\(\*Local\[go\.shape\.struct \{.*callsite\.left.*\}\]\)\.Free`},
		{"Table[int].Get", `slab\.\(\*Table\[go\.shape\.int\]\)\.Get`},
		{"Table[node].Get", `slab\.\(\*Table\[go\.shape\.struct \{.*callsite\.left.*\}\]\)\.Get`},
		{"addr.TypeWord", `TypeWord`},
		{"addr.Within[node]", `addr\.Within\[go\.shape\.struct \{.*callsite\.left.*\}\]`},
		{"addr.Write[node]", `addr\.Write\[go\.shape\.struct \{.*callsite\.left.*\}\]`},
		{"addr.String", `addr.go:\d+:\d+: can inline String`},
		{"arena's slot", `slot`},
		{"arena's checkUsable", `arena.go:\d+:\d+: can inline \(\*Arena\)\.checkUsable`},
		{"bump's checkUsable", `bump.arena.go:\d+:\d+: can inline \(\*Arena\)\.checkUsable`},
		{"track.Countdown.Due", `countdown.go:\d+:\d+: can inline \(\*Countdown\)\.Due`},
	} {
		if path.name == "track.Countdown.Due" && runtime.GOARCH == "386" { // where atomics are calls
			continue
		}
		pattern := path.pattern
		if !strings.Contains(pattern, "can inline") {
			pattern = "can inline " + pattern
		}
		m := regexp.MustCompile(`(?m)` + pattern + ` with cost (\d+) as`).FindStringSubmatch(out)
		if m == nil {
			t.Errorf("%s: %s no longer inlines: %s", runtime.Version(), path.name, reason(out, path.pattern))
			continue
		}
		cost, _ := strconv.Atoi(m[1])
		if cost > budget {
			t.Errorf("%s inlines at a cost of %d: the budget is no longer %d, see GC.md fact 11", path.name, cost, budget)
		}
		t.Logf("%s: %-20s costs %2d of %d", runtime.Version(), path.name, cost, budget)
	}
}

// reason returns the compiler's sentence about a function it does not inline.
func reason(out, pattern string) string {
	if _, name, ok := strings.Cut(pattern, "can inline "); ok {
		pattern = name
	}
	if m := regexp.MustCompile(`(?m)cannot inline ` + pattern + `: (.*)$`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return "the compiler does not mention it"
}

// TestCallSitesInline checks that calls from another package are replaced by
// the function's body, for pointer-free types and for types with pointers.
func TestCallSitesInline(t *testing.T) {
	out := inlining(t)
	source := readCallsite(t)
	for fn, callee := range map[string]string{
		"laneNewInt":     `arena.(*Lane[go.shape.int]).New`,
		"laneNewNode":    `arena.(*Lane[go.shape.struct {`,
		"pushNode":       `arena.Push[go.shape.*uint8]`,
		"bumpNewInt":     `bump.New[go.shape.int]`,
		"bumpNewNode":    `bump.New[go.shape.struct {`,
		"localAllocInt":  `slab.(*Local[go.shape.int]).Alloc`,
		"localAllocNode": `slab.(*Local[go.shape.struct {`,
		"localFreeInt":   `slab.(*Local[go.shape.int]).Free`,
		"localFreeNode":  `slab.(*Local[go.shape.struct {`,
		"tableGetInt":    `slab.(*Table[go.shape.int]).Get`,
		"tableGetNode":   `slab.(*Table[go.shape.struct {`,
		"poolLocalGet":   `pool.(*Local[go.shape.struct {`,
		"poolLocalPut":   `pool.(*Local[go.shape.struct {`,
		"typeWord":       `addr.TypeWord`,
		"within":         `addr.Within[go.shape.struct {`,
		"stringOf":       `addr.String`,
	} {
		line := lineOf(t, source, "func "+fn+"(")
		pattern := `callsite\.go:` + strconv.Itoa(line) + `:\d+: inlining call to ` + regexp.QuoteMeta(callee)
		if !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("%s: the call in callsite.%s is not inlined; want a report of %q", runtime.Version(), fn, callee)
		}
	}
}

// TestArenaNewInlinesWhatItCalls checks the body of arena.New: a call for the look-up,
// the type word or the slot would cost more than they do.
func TestArenaNewInlinesWhatItCalls(t *testing.T) {
	out := inlining(t)
	for _, callee := range []string{`arena\.find\[go\.shape\.struct \{.*callsite\.left.*\}\]`, `addr\.TypeWord`, `arena\.slot`} {
		if !regexp.MustCompile(`arena[/\\]arena\.go:\d+:\d+: inlining call to ` + callee).MatchString(out) {
			t.Errorf("%s: arena.New[node] does not inline %s", runtime.Version(), callee)
		}
	}
}

// TestPushInlinesWhatItCalls checks what stands between a call of Push or Append and the store.
func TestPushInlinesWhatItCalls(t *testing.T) {
	out := inlining(t)
	for _, callee := range []string{`arena\.find`, `arena\.hasRoom`, `addr\.Begins`, `addr\.First`, `addr\.Offset`} {
		if !regexp.MustCompile(`arena[/\\]slice\.go:\d+:\d+: inlining call to ` + callee + `\b`).MatchString(out) {
			t.Errorf("%s: a Push of arena does not inline %s", runtime.Version(), callee)
		}
	}
	for _, callee := range []string{`bump\.hasRoom`, `addr\.Begins`} {
		if !regexp.MustCompile(`bump[/\\]new\.go:\d+:\d+: inlining call to ` + callee + `\b`).MatchString(out) {
			t.Errorf("%s: a Push of bump does not inline %s", runtime.Version(), callee)
		}
	}
}

// TestMagazinesInline checks the methods whose fast path uses the magazines of a
// P: two calls, to pin and to unpin, are all there should be. In a generic method
// the compiler inlines a function of a third package only if it is called in
// another function of the method's package, too (GC.md fact 20).
func TestMagazinesInline(t *testing.T) {
	out := inlining(t)
	steps := []string{
		"Enter", "(*Set).Table", "(*Table).Has", "(*Table).Cell", "(*Cell).CanPop", "(*Cell).Pop",
		"(*Cell).CanPush", "(*Cell).Push", "(*Cell).Leave", "Exit",
	}
	for _, file := range []string{"slab/cache.go", "pool/pool.go", "pool/bytes.go"} {
		for _, step := range steps {
			if !regexp.MustCompile(strings.ReplaceAll(file, "/", `[/\\]`) + `:\d+:\d+: inlining call to magazine\.` + regexp.QuoteMeta(step)).MatchString(out) {
				t.Errorf("%s: magazine.%s is called in %s", runtime.Version(), step, file)
			}
		}
	}
}
