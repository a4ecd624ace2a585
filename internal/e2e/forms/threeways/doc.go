// Package threeways is one form in the three ways to write one, as docs/forms.md shows them.
package threeways
