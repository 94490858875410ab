package havenprometheus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/haven-mem/haven/contrib/internal/metrics"
)

// A panel is what the test reads of one in the dashboard.
type panel struct {
	Title, Type string
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct{ Expr string }
}

func dashboard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Panels []panel }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d.Panels
}

// names returns the metrics there are, by their name in Prometheus.
func names() map[string]bool {
	all := map[string]bool{}
	for _, m := range metrics.Metrics() {
		name := "haven_" + strings.ReplaceAll(m.Name, ".", "_")
		if m.Kind == metrics.Counter {
			name += "_total"
		}
		all[name] = true
	}
	return all
}

// The dashboard and the alerts ask for metrics that exist, and the dashboard shows each.
func TestFilesNameMetrics(t *testing.T) {
	exist, shown := names(), map[string]bool{}
	find := regexp.MustCompile(`\bhaven_[a-z_]+\b`)
	look := func(where, text string, seen func(name string)) {
		for _, name := range find.FindAllString(text, -1) {
			if !exist[name] {
				t.Errorf("%s: there is no metric %s", where, name)
			}
			seen(name)
		}
	}
	for _, p := range dashboard(t) {
		for _, q := range p.Targets {
			look("dashboard.json, "+p.Title, q.Expr, func(name string) { shown[name] = true })
		}
	}
	for _, file := range []string{"alerts.yml", "testdata/alerts_test.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		look(file, string(text), func(string) { n++ })
		if n == 0 {
			t.Errorf("%s names no metric", file)
		}
	}
	quiet := map[string]bool{
		"haven_context_deleted_total": true, // what was created and is not live, dropped or abandoned
		"haven_cache_capacity":        true, // of few caches: the alert has it
		"haven_cache_slabs":           true, // their bytes are shown
		"haven_cache_frees_total":     true,
		"haven_context_warm_arenas":   true,
		"haven_pool_max_objects":      true,
		"haven_pool_max_bytes":        true,
		"haven_pool_puts_total":       true,
		"haven_pool_trimmed_total":    true,
	}
	for name := range exist {
		if quiet[name] == shown[name] {
			t.Errorf("dashboard.json shows %s: %t", name, shown[name])
		}
	}
}

// Panels lie beside and below each other.
func TestDashboardLayout(t *testing.T) {
	taken := map[[2]int]string{}
	for _, p := range dashboard(t) {
		g := p.GridPos
		if g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s: %+v is not within 24 columns", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// Prometheus takes the alerts, they fire when they should, and it takes each query of the
// dashboard.
func TestPromtoolRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("%v: install Prometheus (on Debian: apt-get install prometheus)", err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("check", "rules", "alerts.yml")
	run("test", "rules", "testdata/alerts_test.yml")

	rules := "groups:\n- name: dashboard\n  rules:\n"
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*", "$name", ".*")
	n := 0
	for _, p := range dashboard(t) {
		for _, q := range p.Targets {
			rules += fmt.Sprintf("  - {record: 'panel:%d', expr: '%s'}\n", n, variables.Replace(q.Expr))
			n++
		}
	}
	if n < 20 {
		t.Errorf("the dashboard has %d queries", n)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, []byte(rules), 0o666); err != nil {
		t.Fatal(err)
	}
	run("check", "rules", file)
}
