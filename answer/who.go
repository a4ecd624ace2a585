package answer

import "fmt"

// Asker says who asks, fit to be shown: the address first, which a server cannot choose, then the name it gives itself in
// quotes: `http://localhost:5280/ (calls itself "shop")`. Where no address is known it is "A server".
func (r *Request) Asker() string {
	who := PlainLine(r.Server)
	if who == "" {
		who = "A server"
	}
	if name := PlainLine(r.ServerName); name != "" {
		who += fmt.Sprintf(" (calls itself %q)", name)
	}
	return who
}
