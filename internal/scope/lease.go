package scope

// Retain takes a lease of a *memctx.Context and reports true, unless the context
// has come to its end, where the method Retain panics. It is for those who learn of
// an end by themselves, and may be late. Package memctx sets it.
var Retain func(mc any) bool
