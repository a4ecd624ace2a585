// Package structs has structs that other packages ask for.
package structs

type Login struct {
	Name     string `json:"name"`
	Password string `json:"password"`
}
