package sanitize

var Poisoned = poisoned
