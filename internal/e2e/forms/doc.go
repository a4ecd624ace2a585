// Package forms tests package form against what others wrote: the TypeScript SDK's schema of forms, go-sdk's client, two JSON
// Schema validators, and the cases of JSON-Schema-Test-Suite that modules ship.
package forms
