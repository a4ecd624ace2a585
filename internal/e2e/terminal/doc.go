// Package terminal drives the command line at a real terminal.
package terminal
