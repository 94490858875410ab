// How numbers look. The package's format.go has the same functions, and both give
// the same text for every value.

// bytes returns a number of bytes in binary units with at most four digits.
export function bytes(n) {
  if (n < 1024) return `${n} B`;
  const units = "KMGTPE";
  let unit = 1024, i = 0;
  while (rounded(n, unit) >= 1024) {
    unit *= 1024;
    i++;
  }
  const t = tenths(n, unit);
  if (t >= 1000) return `${rounded(n, unit)} ${units[i]}iB`;
  return `${Math.floor(t / 10)}.${t % 10} ${units[i]}iB`;
}

// rounded returns how many units n is.
function rounded(n, unit) {
  return Math.floor(n / unit) + Math.floor(((n % unit) + unit / 2) / unit);
}

// tenths returns how many tenths of a unit n is, rounded.
function tenths(n, unit) {
  return Math.floor(n / unit) * 10 + Math.floor(((n % unit) * 10 + unit / 2) / unit);
}

// count returns a number with its thousands set apart.
export function count(n) {
  const s = String(Math.abs(n)).replace(/\B(?=(\d{3})+$)/g, ",");
  return n < 0 ? `−${s}` : s;
}

// share returns part of whole in percent, rounded down so that 100 % means all of
// it, or a dash if there is no whole.
export function share(part, whole) {
  if (!(whole > 0)) return "–";
  const t = Math.floor(part / whole * 1000);
  return `${Math.floor(t / 10)}.${t % 10} %`;
}

// duration returns a number of nanoseconds in its two largest units.
export function duration(ns) {
  const s = Math.floor(ns / 1e9);
  if (ns < 1e6) return `${Math.floor(ns / 1e3)} µs`;
  if (ns < 1e9) return `${Math.floor(ns / 1e6)} ms`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

// label returns a context's part of its path, or what a group is.
export function label(row) {
  if (row.Siblings > 0) return `${row.Name} ×${count(row.Siblings)}`;
  return row.Ident === "" ? row.Name : `${row.Name}[${row.Ident}]`;
}
