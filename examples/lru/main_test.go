package main

func Example() {
	main()
	// Output:
	// 0 0 true
	// 1 0 false
	// 2 4 true
	// 3 9 true
	// the oldest of before is still there: false
}
