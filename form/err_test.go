package form

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

const noCredential = `, which must not go through a form (MCP 2026-07-28, client/elicitation); ask for it on a page, with page.Secret and a page.Hidden as its type, or say NotCredential if it is none`

func TestErrOfCredentials(t *testing.T) {
	for _, tt := range []struct {
		x    Field
		want string
	}{
		{String("apiKey"), `field "apiKey": its name asks for a credential ("api key")`},
		{Int("pin"), `field "pin": its name asks for a credential ("pin")`},
		{Number("cvc"), `field "cvc": its name asks for a credential ("cvc")`},
		{URI("connectionString"), `field "connectionString": its name asks for a credential ("connection string")`},
		{Text[sku]("accessToken"), `field "accessToken": its name asks for a credential ("token")`},
		{String("x").Title("Password"), `field "x": its title asks for a credential ("password")`},
		{String("x").Titlef("Password of %s", "root"), `field "x": its title asks for a credential ("password")`},
		{String("x").Description("Enter your password here."), `field "x": its description asks for a credential ("password")`},
		{String("x").Descriptionf("The API key of %s", "shop"), `field "x": its description asks for a credential ("api key")`},
	} {
		testErr(t, New(tt.x), tt.want+noCredential)
	}
	for _, x := range []Field{
		String("apiKey").NotCredential(), Int("pin").NotCredential(), Number("cvc").NotCredential(), URI("connectionString").NotCredential(), Text[netip.Addr]("accessToken").NotCredential(),
		String("shippingPin"), Int("tokenCount"), String("passport"), String("x").Titlef("Note on %s", "the password"), String("x").Descriptionf("%s", "your password"),
		Bool("resetPassword"), Choice("token", Options("a")...), Choices("secrets", Options("a")...), Date("passwordExpires"), DateTime("tokenUntil"), Email("passwordMail"),
	} {
		if err := New(x).Err(); err != nil {
			t.Error(err)
		}
	}
	type S struct {
		Key  string `json:"apiKey" elicit:"notCredential"`
		Word string `json:"word" jsonschema:"the user's password"`
	}
	testErr(t, For[S](), `field "word": its description asks for a credential ("password")`+noCredential)
}

func TestErrOfLinks(t *testing.T) {
	const rest = `, which a form must not lead people to (MCP 2026-07-28, client/elicitation, Safe URL Handling); take it out, or give it to `
	testErr(t, New(String("x").Title("See https://acme.com/terms.")), `field "x": its title has a link ("https://acme.com/terms")`+rest+"Titlef as data of this call")
	testErr(t, New(Bool("x").Description("By www.acme.com")), `field "x": its description has a link ("www.acme.com")`+rest+"Descriptionf as data of this call")
	testErr(t, New(Bool("x").Descriptionf("http://acme.com/%s", "y")), `field "x": its description has a link ("http://acme.com/%s")`+rest+"Descriptionf as data of this call")
	type S struct {
		A string `jsonschema:"see http://acme.com"`
		B string `elicit:"title=http://acme.com"`
	}
	testErr(t, For[S](), `field "A": its description has a link ("http://acme.com")`+rest+"Descriptionf as data of this call", `field "B": its title has a link ("http://acme.com")`+rest+"Titlef as data of this call")
	for _, x := range []Field{
		URI("x").Description("such as https://example.com/hook").Default("https://acme.com/"), Bool("x").Titlef("Delete %s", "https://acme.com/doc"), Bool("x").Descriptionf("It is at %s.", "https://acme.com/doc"),
		Choice("x", Opt("https://acme.com/a", "https://acme.com/a")),
	} {
		if err := New(x).Err(); err != nil {
			t.Error(err)
		}
	}
}

func TestErrOfTooManyFields(t *testing.T) {
	var fields []Field
	for i := range MaxFields + 1 {
		fields = append(fields, Int(fmt.Sprintf("n%d", i)))
	}
	if err := New(fields[1:]...).Err(); err != nil {
		t.Error(err)
	}
	testErr(t, New(fields...), "the form has 101 fields; at most 100 are allowed: ask in several questions")
}

// The other methods that every kind has, beside those of TestCommonMethods.
func TestFormattedTexts(t *testing.T) {
	want := `"title":"T 1","description":"D 2"`
	for _, x := range []Field{
		String("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Email("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Date("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Int("x").Titlef("T %d", 1).Descriptionf("D %d", 2),
		Number("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Bool("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Choice("x", Options("a")...).Titlef("T %d", 1).Descriptionf("D %d", 2),
		Choices("x", Options("a")...).Titlef("T %d", 1).Descriptionf("D %d", 2), Text[sku]("x").Titlef("T %d", 1).Descriptionf("D %d", 2), Text[sku]("x").Title("T 1").Description("D 2").Required().Optional(),
	} {
		if p := property(t, x); !strings.Contains(p, want) {
			t.Errorf("%T: %s", x, p)
		}
	}
}
