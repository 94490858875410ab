package request

import (
	"strings"
	"sync"
)

// maxNames bounds the names of requests that one server tells apart.
const maxNames = 256

// Names are those of a server's requests. They come from functions of the server's user, or
// from its clients, and each has counters and warm arenas for ever, so there are not more than
// maxNames.
type Names struct {
	by sync.Map // string to itself, as a copy
	mu sync.Mutex
	n  int
}

// Of returns name, or other if name is empty or one more than there may be.
func (x *Names) Of(name, other string) string {
	if name == "" {
		return other
	}
	if known, ok := x.by.Load(name); ok {
		return known.(string)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.by.Load(name); !ok {
		if x.n >= maxNames {
			return other
		}
		x.n++
		name = strings.Clone(name) // which may be part of something large, or lie in an arena
		x.by.Store(name, name)
	}
	return name
}
