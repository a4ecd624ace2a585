// Package e2e tests the whole workspace from outside.
package e2e
