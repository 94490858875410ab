package guard

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/leak"
)

// In the check build the file has the latest releases of memory with pointers, by the
// pages that their pointers lead to.

// keptPages is how many: 16 MB.
const keptPages = 4 << 10

var headed bool // the file has its header

// notePage writes what is known of a release. It is called under a lock.
func notePage(p check.Page) {
	f := monitor.file
	if !headed {
		write(f, 0, header{geometry{First: p.First, Stride: p.Stride}, text(), p.Count})
		headed = true
	}
	write(f, 1+p.Index%keptPages, record{Whose: p.Memory, Start: p.Address, Made: p.Made, End: p.End})
}

var panicLine = regexp.MustCompile(`(?m)^panic: (.*?)(?: \[recovered.*\])?$`)

// diagnose returns the report for a crash in the check build, by a fault at an address
// or, for 0, by a panic, or nil.
func (h header) diagnose(crash []byte, address uintptr, read func(int, any) bool, stack func([]uintptr) *leak.Site) *check.Report {
	if i := (address - h.First) / h.Stride; address >= h.First && i < uintptr(h.Pages) {
		var r record
		if !read(1+int(i)%keptPages, &r) || r.Start != h.First+i*h.Stride {
			r = record{Whose: fmt.Sprintf("released too long ago to be known, more than %d releases", keptPages)}
		}
		return check.Followed(address, r.Whose, stack(r.Made).Stack(), stack(r.End).Stack())
	}
	if m := panicLine.FindSubmatch(crash); m != nil {
		return check.ExplainText(string(m[1]), strings.HasPrefix(string(m[1]), "runtime error: "))
	}
	return nil
}
