// Command page writes what people read of the measurements in bench/results: BENCHMARKS.md,
// its picture, and the numbers of README.md. It measures nothing; .ci/benchmarks does, and
// runs it in the root of the repository:
//
//	go run ./bench/page
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	folder  = "bench/results"
	picture = folder + "/ratios.svg"
)

func main() {
	files, err := generate(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, text, 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate returns the files to write, by their names below root.
func generate(root string) (map[string][]byte, error) {
	runs, err := load(root)
	if err != nil {
		return nil, err
	}
	gateway, err := read(filepath.Join(root, folder, "gateway.md"))
	if err != nil {
		return nil, err
	}
	text, err := read(filepath.Join(root, folder, "peers.md"))
	if err != nil {
		return nil, err
	}
	peers, err := parseRun("peers", text)
	if err != nil {
		return nil, err
	}
	readme, err := read(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	readme, err = between(readme, numbers(runs))
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"BENCHMARKS.md": []byte(page(runs, peers, gateway)),
		picture:         draw(runs[0]),
		"README.md":     []byte(readme),
	}, nil
}

// load reads what haven bench wrote, the oldest Go version first.
func load(root string) ([]*run, error) {
	names, err := filepath.Glob(filepath.Join(root, folder, "go1.*.md"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s has no results go1.*.md of haven bench (%v)", folder, err)
	}
	slices.Sort(names)
	var runs []*run
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		r, err := parseRun(strings.TrimSuffix(filepath.Base(name), ".md"), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// read returns a text without what Git may have put at the ends of its lines.
func read(name string) (string, error) {
	text, err := os.ReadFile(name)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// between replaces what README.md has between its marks.
func between(readme, text string) (string, error) {
	const begin, end = "<!-- numbers: written by .ci/benchmarks -->\n", "<!-- /numbers -->\n"
	before, rest, ok := strings.Cut(readme, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("README.md has no lines %q and %q", begin, end)
	}
	return before + begin + text + end + after, nil
}
