// Package archtest holds the tests that keep the project's walls standing:
// which package may import what, what pure code may never do, how long a file
// may grow. docs/architecture.md gives the plan; a test here fails with the
// reason when the tree leaves it.
package archtest
