package browser

// clock takes the clock away from a page: what it wants to do after a second or
// more happens when the test calls tick(). It counts what the page asks, and can
// hold an answer back.
const clock = `
	window.pending = new Map();
	window.asked = 0;
	window.gate = Promise.resolve();
	const after = window.setTimeout, forget = window.clearTimeout, load = window.fetch;
	let last = 1e9;
	window.setTimeout = (f, wait, ...rest) => {
		if (!(wait >= 1000)) return after(f, wait, ...rest);
		window.pending.set(++last, f);
		return last;
	};
	window.clearTimeout = (id) => { if (!window.pending.delete(id)) forget(id); };
	window.tick = () => {
		const due = [...window.pending.values()];
		window.pending.clear();
		due.forEach((f) => f());
		return due.length;
	};
	window.fetch = async (...what) => {
		window.asked++;
		const answer = await load(what[0]);
		await window.gate;
		return answer;
	};`

// tick lets the page ask once, and waits for what it shows then.
func (b *tab) tick() {
	b.t.Helper()
	before := eval[string](b, `document.getElementById("time").dateTime`)
	if n := eval[int](b, `window.tick()`); n != 1 {
		b.t.Fatalf("the page waits for %d things to happen", n)
	}
	b.until("the page shows the answer", `window.pending.size === 1 && document.getElementById("time").dateTime !== `+"`"+before+"`")
}
