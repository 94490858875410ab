package slab_test

import (
	"errors"
	"fmt"

	"github.com/haven-mem/haven/slab"
)

// A Song is linked by handles, so it has no pointers: however many there are,
// the garbage collector skips them.
type Song struct {
	Next, Prev slab.Handle[Song]
	Year       int
}

// A Playlist is a doubly linked list.
type Playlist struct {
	songs       slab.Table[Song]
	first, last slab.Handle[Song]
}

func (l *Playlist) Add(year int) slab.Handle[Song] {
	h, _ := l.songs.Insert(Song{Prev: l.last, Year: year})
	if last, ok := l.songs.Get(l.last); ok { // no: the zero Handle names nothing
		last.Next = h
	} else {
		l.first = h
	}
	l.last = h
	return h
}

func (l *Playlist) Remove(h slab.Handle[Song]) bool {
	s, ok := l.songs.Get(h)
	if !ok {
		return false
	}
	if prev, ok := l.songs.Get(s.Prev); ok {
		prev.Next = s.Next
	} else {
		l.first = s.Next
	}
	if next, ok := l.songs.Get(s.Next); ok {
		next.Prev = s.Prev
	} else {
		l.last = s.Prev
	}
	return l.songs.Remove(h)
}

func (l *Playlist) Years() (years []int) {
	for h := l.first; ; {
		s, ok := l.songs.Get(h)
		if !ok {
			return years
		}
		years = append(years, s.Year)
		h = s.Next
	}
}

// A doubly linked list by handles.
func ExampleTable() {
	var l Playlist
	l.Add(1971)
	h := l.Add(1984)
	l.Add(1999)
	fmt.Println(l.Years())
	fmt.Println(l.Remove(h), l.Remove(h)) // the second time h is stale
	l.Add(2024)                           // takes the same slot, and h stays stale
	_, ok := l.songs.Get(h)
	fmt.Println(l.Years(), ok)
	// Output:
	// [1971 1984 1999]
	// true false
	// [1971 1999 2024] false
}

func ExampleNewTable() {
	seats := slab.NewTable[string](slab.TableConfig{Name: "seats", Capacity: 2})
	seats.Insert("Ada")
	seats.Insert("Grace")
	_, _, err := seats.TryInsert("Edsger")
	fmt.Println(err)
	fmt.Println(errors.Is(err, slab.ErrExhausted))
	// Output:
	// slab: capacity reached: table "seats" has 2 elements
	// true
}

func ExampleTable_All() {
	var words slab.Table[string]
	for _, w := range []string{"arena", "slab", "pool", "context"} {
		words.Insert(w)
	}
	for h, w := range words.All() {
		if len(*w) == 4 {
			words.Remove(h)
		}
	}
	for _, w := range words.All() {
		fmt.Println(*w)
	}
	// Output:
	// arena
	// context
}

func ExampleHandle() {
	var users, groups slab.Table[string]
	h, _ := users.Insert("Ada")
	scores := map[slab.Handle[string]]int{h: 7} // a key like any other
	_, ok := groups.Get(h)                      // of another table
	_, zero := users.Get(slab.Handle[string]{})
	fmt.Println(scores[h], ok, zero, slab.Handle[string]{})
	// Output: 7 false false string#none
}
