package track

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// Objects is what an owner has for those who watch that hands out objects of one type and
// takes them back one by one. The zero Objects is ready. What it does with an object is
// for the check build.
type Objects struct {
	Dropped Countdown // pieces of memory left to the collector
	known   check.Only[check.Objects]
}

// Out takes down that the object at p is somebody's from now on.
func (k *Objects) Out(p unsafe.Pointer, o Owner) {
	k.known.Get().Alloc(p, o.Name, o.Title(), o.Type)
}

// May reports whether the object at p may be taken back; it reports a mistake.
func (k *Objects) May(p unsafe.Pointer, o Owner) bool {
	return o.Type.Size() == 0 || o.raise(func() *check.Report { return k.known.Get().Check(p, o.Title()) })
}

// Back poisons the object at p, which May be taken back and is zero, and has it wait
// until back is called, which gives it to the allocator. Others may leave for it.
func (k *Objects) Back(p unsafe.Pointer, o Owner, back func()) {
	if o.Type.Size() == 0 {
		back()
		return
	}
	k.known.Get().Free(p, back)
	k.Leave(false, o)
}

// Leave gives objects to the allocator that have waited long enough, or all.
func (k *Objects) Leave(all bool, o Owner) {
	for !o.raise(func() *check.Report { return k.known.Get().Leave(all) }) {
	}
}

// Waiting returns how many objects wait: none but in the check build.
func (k *Objects) Waiting() (n int) {
	if check.Enabled {
		n, _ = k.known.Get().Waiting()
	}
	return n
}

// raise reports what f finds, which is an operation of the owner's, and whether that is
// nothing.
func (o *Owner) raise(f func() *check.Report) (ok bool) {
	o.Busy.Begin(o.Title)
	bad := f()
	o.Busy.Exit()
	return raise(bad)
}

// raise reports a mistake, if there is one, and whether there is none.
func raise(bad *check.Report) (ok bool) {
	if bad != nil {
		check.Raise(bad)
	}
	return bad == nil
}

// Keep returns a function that makes the object at p what it is now.
func Keep(p unsafe.Pointer, typ reflect.Type) (restore func()) {
	object, held := reflect.NewAt(typ, p).Elem(), reflect.New(typ).Elem()
	held.Set(object)
	return func() {
		object.SetZero()
		object.Set(held)
	}
}
