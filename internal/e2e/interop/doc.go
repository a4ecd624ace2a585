// Package interop tests the examples with clients written by others.
package interop
