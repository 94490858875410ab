package shapecmd

import (
	"regexp"
	"strings"
)

// qualifiedName matches a name with its import path: time.Time,
// net/http.Request, gopkg.in/yaml.v3.Node. The path is the first group.
var qualifiedName = regexp.MustCompile(`([A-Za-z_][\w.~+-]*(?:/[\w.~+-]+)*)\.[A-Za-z_]\w*`)

// span is a part of an expression: a path in front of a name.
type span struct{ start, end int }

// qualifiers finds the import paths in a type expression, which may be no Go
// as it stands: net/http.Request is a division to Go's grammar. Quoted strings
// (struct tags) are left alone.
func qualifiers(expr string) []span {
	var found []span
	for at := 0; at < len(expr); {
		quote := strings.IndexAny(expr[at:], "\"`")
		end := len(expr)
		if quote >= 0 {
			end = at + quote
		}
		for _, m := range qualifiedName.FindAllStringSubmatchIndex(expr[at:end], -1) {
			found = append(found, span{at + m[2], at + m[3]})
		}
		if quote < 0 {
			break
		}
		at = end + quotedLen(expr[end:])
	}
	return found
}

// quotedLen returns the length of the quoted string that s starts with, or of
// all of s when it does not end.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// rewritten is an expression with import paths replaced by package names. It
// remembers where, so that columns in messages are those of the argument.
type rewritten struct {
	text  string
	edits []edit
}

type edit struct {
	from, to int // offsets of the end of the path in the argument and in text
	start    int // offset of the start of the new text
}

// rewrite replaces each path by name(path) and a dot, or by nothing when the
// name is empty.
func rewrite(expr string, paths []span, name func(path string) string) rewritten {
	var out strings.Builder
	var r rewritten
	at := 0
	for _, p := range paths {
		out.WriteString(expr[at:p.start])
		e := edit{start: out.Len()}
		out.WriteString(name(expr[p.start:p.end]))
		at = p.end
		if out.Len() == e.start {
			at++ // the dot
		}
		e.from, e.to = at, out.Len()
		r.edits = append(r.edits, e)
	}
	out.WriteString(expr[at:])
	r.text = out.String()
	return r
}

// column returns the column in the argument, from 1, of an offset in text.
func (r rewritten) column(offset int) int {
	column := offset
	for _, e := range r.edits {
		switch {
		case offset >= e.to:
			column = offset - e.to + e.from
		case offset >= e.start:
			column -= offset - e.start // inside a path: its start
		}
	}
	return column + 1
}
