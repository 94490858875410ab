package main

func Example() {
	main()
	// Output:
	// [1 2.5 4]
	// refused: 8000000 bytes for "record", which may have 65536
	// malformed: 2 samples claimed, 1 there
	// [9.9]
}
