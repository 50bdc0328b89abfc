// Package nettest gives tests network namespaces of their own, so that what
// they send is seen by nobody else. It needs root, and the program ip.
package nettest
