// Package top is the command "haven top": it shows in a terminal, and keeps
// fresh, what the debug page of a running program shows: memory contexts, limits,
// slab caches, pools and leaks.
//
// The figures come over HTTP from the page's JSON form, see package debugpage.
// They are fetched (fetch.go), made into the rows of a view (view.go and a file
// for each subject), and drawn (draw.go) by pure functions of the figures, what
// the user chose and the size of the screen. The loop (loop.go) turns keys,
// readings and time into changes of what is drawn. Names are the program's, not
// ours: what a terminal would act upon is quoted before it is shown (text.go).
package top

const usage = `usage: haven top [flags] address

Top shows the memory of a running program as its debug page does, and reads it
anew each second: memory contexts, limits, slab caches, pools and leaks. The
program serves the page after debugpage.Register(mux).

The address is one of
    host:port, :port or port    localhost:6060, :6060, 6060
    a URL                       https://example.org/admin/memory/
A path is that of the page; without one it is /debug/haven/.

In a terminal the screen is kept up to date until q or Ctrl-C is pressed; ?
lists the keys. When the program stops answering, the last figures stay, with
their age, until it is back. Where standard input or output is no terminal, and
with -json, one reading is printed, or with -interval one after another until
the command is ended.

flags:
    -view name      tree, contexts, names, limits, caches, pools or leaks
                    (default tree)
    -sort key       what the rows are sorted by, the largest, oldest or
                    alphabetically first on top; the keys of each view, the
                    default first, are
                        tree      bytes own high chunks age name
                        contexts  bytes total high chunks age name
                        names     bytes high live created errors name
                        limits    full name
                        caches    bytes inuse objects slabs misses name
                        pools     bytes idle inuse misses dropped name
                        leaks     count bytes age name
    -n rows         most rows on one screen or page (default 0: what fits)
    -interval time  time between readings, 100ms or more (default 1s)
    -once           print one reading as plain text
    -json           print readings as JSON, complete and exact, one to a line
    -h              print this help

HIGH is the high-water mark. In the tree BYTES, HIGH and CHUNKS are of a context
with all below it, and OWN is its own part. In the list of contexts they are of
the context alone, and TOTAL is with all below. Many contexts of one name are a
row, NAME ×COUNT, with the first three below it; the share of their limits is
that of the fullest. Limits that are not half used are only counted, unless they
are sorted by name. K, M, G are powers of 1024 bytes. FULL is the share of the
limit that is used, GC CPU the collector's share of the CPU time since the
program's start. NO_COLOR turns colours off.

The exit status is 0, 1 when the program could not be read to begin with, 2 for
bad input, and 128 and the signal's number after a signal.
`
