package workload

// A reqRoute lives on the heap, whatever the requests live in.
type reqRoute struct {
	pattern string
	table   string
	columns []string
}

type reqRequest struct {
	method, path string
	route        *reqRoute
	headers      *reqHeader
	params       *reqParam
	user         *reqUser
	queries      *reqQuery
	rows         []*reqRow
	trace        *reqSpan
	body         []byte
	status       int
}

type reqHeader struct {
	name, value string
	next        *reqHeader
}

type reqParam struct {
	key, value string
	number     int
	next       *reqParam
}

type reqUser struct {
	id          int
	name, email string
	roles       []string
	session     *reqSession
}

type reqSession struct {
	token            string
	user             *reqUser
	created, expires int64
	route            *reqRoute
}

type reqQuery struct {
	table   string
	columns []string
	args    []int
	plan    *reqPlan
	next    *reqQuery
}

type reqPlan struct {
	cost  float64
	outer *reqPlan
	query *reqQuery
	index *string
}

type reqRow struct {
	id    int
	cells []*reqCell
	owner *reqUser
}

type reqCell struct {
	column, text string
	number       int
	row          *reqRow
}

type reqSpan struct {
	name       string
	parent     *reqSpan
	start, end int64
	attributes []string
}

// read goes once over everything a request is made of, like the code that
// answers it, and returns a number from it.
func (r *reqRequest) read() uint64 {
	n := len(r.method) + len(r.path) + len(r.route.pattern) + len(r.body) + r.status
	for h := r.headers; h != nil; h = h.next {
		n += len(h.name) + len(h.value)
	}
	for p := r.params; p != nil; p = p.next {
		n += len(p.key) + len(p.value) + p.number
	}
	n += r.user.id + len(r.user.name) + len(r.user.email) + len(r.user.roles) + len(r.user.session.token)
	for q := r.queries; q != nil; q = q.next {
		n += len(q.table) + len(q.columns) + len(q.args)
		for p := q.plan; p != nil; p = p.outer {
			n += int(p.cost)
		}
	}
	for _, row := range r.rows {
		n += row.id + row.owner.id
		for _, c := range row.cells {
			n += len(c.column) + len(c.text) + c.number
		}
	}
	for s := r.trace; s != nil; s = s.parent {
		n += len(s.name) + len(s.attributes) + int(s.end-s.start)
	}
	return uint64(n)
}

// checksum returns a number from every field and every byte of a request. It
// follows no more links than a request has, so that it ends for a broken one.
func (r *reqRequest) checksum() uint64 {
	steps := 0
	more := func(there bool) bool {
		steps++
		return there && steps < 100
	}
	h := addString(addString(0, r.method), r.path)
	h = addString(addString(h, string(r.body)), r.route.pattern)
	for p := r.headers; more(p != nil); p = p.next {
		h = addString(addString(h, p.name), p.value)
	}
	for p := r.params; more(p != nil); p = p.next {
		h = add(addString(addString(h, p.key), p.value), uint64(p.number))
	}
	u := r.user
	h = addString(addString(h, u.name), u.email)
	h = addString(addStrings(h, u.roles), u.session.token)
	h = add(add(h, uint64(u.session.user.id)), uint64(u.session.expires-u.session.created))
	for q := r.queries; more(q != nil); q = q.next {
		h = addInts(addStrings(addString(h, q.table), q.columns), q.args)
		for p := q.plan; more(p != nil); p = p.outer {
			h = addString(add(h, uint64(p.cost)), p.query.table)
			if p.index != nil {
				h = addString(h, *p.index)
			}
		}
	}
	for _, row := range r.rows {
		h = add(add(h, uint64(row.id)), uint64(row.owner.id))
		for _, c := range row.cells {
			h = addString(addString(h, c.column), c.text)
			h = add(add(h, uint64(c.number)), uint64(c.row.id))
		}
	}
	for s := r.trace; more(s != nil); s = s.parent {
		h = addStrings(addString(h, s.name), s.attributes)
		h = add(add(h, uint64(s.start)), uint64(s.end))
	}
	return add(h, uint64(r.status))
}

func addStrings(h uint64, list []string) uint64 {
	for _, s := range list {
		h = addString(h, s)
	}
	return add(h, uint64(len(list)))
}
