package scope

// Package memctx sets these. They are for those who learn of the end of what they
// opened by themselves, and may be late: a context may have ended with one above it. What
// they take is the address of a memctx.Context.
var (
	// Retain takes a lease of a context and reports true, unless the context has
	// come to its end, where the method Retain panics.
	Retain func(mc any) bool

	// Release gives the caller's lease back.
	Release func(mc any)

	// Delete deletes a context and gives the caller's lease back.
	Delete func(mc any)

	// Spare leaves memory in which one of texts lies to the garbage collector when a
	// context, or one below it, ends or is reset the next time.
	Spare func(mc any, texts []string)
)
