// Package browser drives the pages of this repository in a real browser.
package browser
