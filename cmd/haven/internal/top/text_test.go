package top

import (
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 1023: "1023", 1024: "1.0K", 1075: "1.0K", 1076: "1.1K", 102348: "99.9K", 102349: "100K", 1 << 20: "1.0M",
		1048524: "1024K", 1048525: "1.0M", 1<<64 - 1: "16.0E",
	} {
		if got := formatBytes(n); got != want {
			t.Errorf("formatBytes(%d) = %s, want %s", n, got, want)
		}
	}
	if got := formatBytes(-7); got != "-7" {
		t.Errorf("formatBytes(-7) = %s", got)
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 0: "0.0s", 199 * time.Millisecond: "0.1s", 10*time.Second - 1: "9.9s", 10 * time.Second: "10s",
		time.Minute: "1m00s", 61 * time.Second: "1m01s", time.Hour - 1: "59m59s", time.Hour: "1h00m", 24*time.Hour - 1: "23h59m",
		24 * time.Hour: "1d00h", 99*24*time.Hour + 23*time.Hour: "99d23h", 100 * 24 * time.Hour: "100d",
	} {
		if got := formatAge(d); got != want {
			t.Errorf("formatAge(%d) = %s, want %s", d, got, want)
		}
	}
	for _, tc := range []struct {
		part, whole int
		want        string
	}{{0, 0, "-"}, {5, -1, "-"}, {0, 9, "0%"}, {999, 1000, "99%"}, {1000, 1000, "100%"}, {1500, 1000, "150%"}} {
		if got := formatShare(tc.part, tc.whole); got != tc.want {
			t.Errorf("formatShare(%d, %d) = %s, want %s", tc.part, tc.whole, got, tc.want)
		}
	}
	for f, want := range map[float64]string{0: "0.0%", 0.01299: "1.2%", 1: "100.0%"} {
		if got := formatFraction(f); got != want {
			t.Errorf("formatFraction(%v) = %s, want %s", f, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"conn":          "conn",
		"GET /a b?ü=日本": "GET /a b?ü=日本",
		`say "x" c:\d`:  `say "x" c:\d`,
		"":              `""`,
		`"conn"`:        `"\"conn\""`,
		"\x1b[2J":       `"\x1b[2J"`,
		"a\nb\tc":       `"a\nb\tc"`,
		"\u009b31m":     `"\u009b31m"`,
		"a\u202eb":      `"a\u202eb"`,
		"a\u200db":      `"a\u200db"`,
		"bad \xff":      `"bad \xff"`,
		"\u00a0":        `"\u00a0"`,
	} {
		if got := quoted(name); got != want {
			t.Errorf("quoted(%q) = %s, want %s", name, got, want)
		}
	}
	for text, want := range map[string]string{`a "b": 日本`: `a "b": 日本`, "x\x1b[2Jy\xff": `x\x1b[2Jy` + "\ufffd"} {
		if got := printable(text); got != want || !shown(got) {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		text string
		n    int
		want string
	}{
		{"server/conn", 11, "server/conn"},
		{"server/conn", 10, "ser…r/conn"},
		{"server/conn", 2, "…n"},
		{"server/conn", 1, "…"},
		{"server/conn", 0, ""},
		{"server/conn", -5, ""},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "…本語"}, // the first would take two cells
		{"日本語", 4, "…語"},
		{"cafe\u0301 au lait, s'il vous plai\u0302t", 13, "cafe\u0301…us plai\u0302t"},
		{"xxxxxxxx e\u0301", 3, "… e\u0301"},
		{"xxxxxxxx e\u0301", 2, "…e\u0301"},
		{"xxかか\u3099", 2, "…"}, // and not the mark without its character
	} {
		got := fit(tc.text, tc.n)
		if got != tc.want || cells(got) > max(tc.n, 0) {
			t.Errorf("fit(%q, %d) = %q of %d cells, want %q", tc.text, tc.n, got, cells(got), tc.want)
		}
	}
}
