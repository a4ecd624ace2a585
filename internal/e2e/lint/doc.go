// Package lint tests the analyzers on code that nobody wrote for them.
package lint
