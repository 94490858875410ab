// The program of .ci/release that makes a module proxy: a folder in the layout that
// the go command reads from a URL with file://.
//
//	go run ./.ci/proxy.go VERSION FOLDER
//
// It has all modules of the repository in one version, with the files that git would
// commit.
package main

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

func run(version, folder string) error {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	modules := map[string][]string{} // their files, by their folders
	for _, name := range files {
		if path.Base(name) == "go.mod" {
			modules[path.Dir(name)] = nil
		}
	}
	for _, name := range files {
		dir := path.Dir(name)
		for _, isModule := modules[dir]; !isModule; _, isModule = modules[dir] {
			dir = path.Dir(dir)
		}
		modules[dir] = append(modules[dir], name)
	}
	for dir, files := range modules {
		if err := publish(dir, files, version, folder); err != nil {
			return err
		}
	}
	return nil
}

// publish writes what a proxy has of a module: a list, and files for the version.
func publish(dir string, files []string, version, folder string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	module := string(regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(mod)[1])
	at := filepath.Join(folder, module, "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2000-01-01T00:00:00Z"}`, version),
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := zip.NewWriter(f)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // git does not know yet that it is gone
		}
		if err != nil {
			return err
		}
		entry, err := w.Create(module + "@" + version + "/" + strings.TrimPrefix(name, dir+"/"))
		if err != nil {
			return err
		}
		if _, err := entry.Write(text); err != nil {
			return err
		}
	}
	return w.Close()
}
