package elicit006

import (
	"context"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit006/structs"
	"github.com/elicit-go/elicit/page"
)

var (
	noKey    = elicit.Input("", "What?")                                              // want `has no key`
	hash     = elicit.Confirm("a#b", "Sure?")                                         // want `a key cannot contain #`
	noWords  = elicit.Input("name", "  ")                                             // want `it has no message`
	link     = elicit.Confirm("sure", "See https://evil.example.io/x. Sure?").Bound() // want `its message contains the URL https://evil.example.io/x`
	secret   = elicit.Input("key", "Please enter your API key")                       // want `seems to ask for a credential \("api key"\)`
	none     = elicit.Choose[string]("region", "Where?")                              // want `it has no options to choose from: give it some`
	twice    = elicit.Choose("region", "Where?", form.Options("eu", "us", "eu")...)   // want `option "eu" is there twice`
	checkbox = elicit.Input("name", "What?").WithCheckbox("I know")                   // want `WithCheckbox is for questions of Confirm`
	blank    = elicit.Confirm("sure", "Sure?").WithMessagef("")                       // want `it has no message`
	rekeyed  = elicit.Confirm("sure", "Sure?").WithMessagef("Really?").WithKey("x#y") // want `a key cannot contain #`
	login    = elicit.NewQuestion[structs.Login]("login", "Who are you?")             // want `field "password": its name asks for a credential \("password"\)`
	formless = elicit.NewFormQuestion("", "Who?", form.New(form.String("name")))      // want `has no key`
	pointer  = elicit.NewQuestion[*Shipment]("ship", "Ship it?")                      // want `not of a pointer`
	text     = form.For[string]()                                                     // want `a form is made of a struct; put the string into a field of one`
	moment   = form.For[time.Time]()                                                  // want `a form is made of a struct; put the time.Time into a field of one`
)

const least, most = 10, 1

type Colour string

type Wrong struct{}

func (Colour) ElicitOptions() []string { return nil } // not options

type Base struct {
	ID string `json:"id" elicit:"minLength=9,maxLength=3"` // want `field "id": MinLength 9 is above MaxLength 3`
}

type hidden struct {
	Note string `json:"note" elicit:"title="` // want `Shipment.*note|its title is empty`
}

type Shipment struct {
	Base
	hidden
	Number   string            `json:"number" elicit:"min=3"`                       // want `Shipment.Number: its elicit tag: min is for numbers`
	Parcels  uint8             `json:"parcels" elicit:"max=300"`                    // want `Shipment.Parcels: its elicit tag: max 300 is outside the range of the Go type, 0 to 255`
	Unknown  string            `json:"unknown" elicit:"minlength=3"`                // want `Shipment.Unknown: its elicit tag: "minlength" is not known`
	Quote    string            `json:"quote" elicit:"title='open"`                  // want `Shipment.Quote: its elicit tag: the quote of title does not end`
	Format   string            `json:"format" elicit:"format=phone"`                // want `format "phone" is none`
	Default  int               `json:"default" elicit:"default=many"`               // want `default "many" is not a whole number`
	Low      int               `json:"low" elicit:"min=3,default=1"`                // want `field "low": its default breaks its own rules`
	Carrier  string            `json:"carrier" elicit:"enum=ups|dhl,default=fedex"` // want `field "carrier": its default breaks its own rules`
	Titles   string            `json:"titles" elicit:"enum=a|b,enumTitles=A"`       // want `enumTitles has 1 titles for 2 options`
	Took     time.Duration     `json:"took"`                                        // want `Shipment.Took: a time.Duration would be asked for in nanoseconds`
	Nested   struct{ A int }   `json:"nested"`                                      // want `Shipment.Nested: a form is flat, so a field cannot be the struct struct{A int}`
	Other    Wrong             `json:"other"`                                       // want `a field cannot be the struct elicit006.Wrong`
	Map      map[string]string `json:"map"`                                         // want `a form is flat and has fixed fields, so not map\[string\]string`
	Any      any               `json:"any"`                                         // want `a form asks for one type, so not any|a form asks for one type`
	List     []string          `json:"list"`                                        // want `a \[\]string needs options to choose from`
	Numbers  []int             `json:"numbers"`                                     // want `has no lists but of options, so not \[\]int`
	Colour   Colour            `json:"colour"`                                      // want `the method ElicitOptions of elicit006.Colour must be`
	Func     func()            `json:"func"`                                        // want `a form cannot ask for func\(\)`
	APIKey   string            `json:"apiKey"`                                      // want `field "apiKey": its name asks for a credential`
	Describe string            `json:"describe" jsonschema:"your password"`         // want `field "describe": its description asks for a credential`
	Word     string            `json:"word" jsonschema:"required=true"`             // want `begins with WORD=`
	Twin     string            `json:"twin" elicit:"required,optional"`             // want `required and optional exclude each other`
}

var ship = elicit.NewQuestion[Shipment]("ship", "Ship this order")

func inHandler(ctx context.Context, unknown string) error {
	low := form.Int("parcels").Range(least, most)                                                             // want `field "parcels": .*10.*1`
	kind := form.Choice("kind", form.Opt("a", "A"), form.Opt("b", "B")).Default("c")                          // want `field "kind": its default breaks its own rules`
	name := form.String("name").MinLength(-1).Description(unknown)                                            // want `MinLength is negative`
	code := form.String("pin")                                                                                // want `its name asks for a credential`
	label := form.String("label").Title("Password")                                                           // want `its title asks for a credential`
	see := form.String("see").Descriptionf("see https://docs.evil.io for %s", unknown)                        // want `its description has a link`
	num := form.Choice("num", form.Options(1, 2, 1)...)                                                       // want `option "1" is there twice`
	size := form.Choices("size", []form.Option[string]{{Value: "s"}, {Value: "s", Title: "S"}}...).AtLeast(3) // want `option "s" is there twice`
	_, err := elicit.NewFormQuestion("x", "What?", form.New(low, kind, name, code, label, see, num, size)).Value(ctx)
	return err
}

var same = form.New(form.String("a"), form.Int("a").Range(1, 2)) // want `field "a": another field has the same name`

type Machine struct {
	Size  string  `json:"size"`
	Nodes int     `json:"nodes"`
	Label *string `json:"label"`
	Token string  `json:"token"`
	Inner struct{ A string }
}

var built = form.Build(func(m *Machine) []form.Field { // want `field 4 points into Machine.Inner|there is twice|is there twice`
	return []form.Field{
		form.ChoiceOf(&m.Size, form.Opt("s", "Small")).Default("l"), // want `field "size": its default breaks its own rules`
		form.IntOf(&m.Nodes).Range(5, 1),                            // want `field "nodes": minimum 5 is above maximum 1, so that nothing is valid: change one of them`
		form.StringOf(m.Label),
		form.StringOf(m.Label),
		form.StringOf(&m.Token), // want `field "token": its name asks for a credential`
	}
})

func generic[T any](key string) *elicit.Question[T] {
	return elicit.NewQuestion[T](key, "") // want `it has no message`
}

type Key struct {
	Key page.Hidden `json:"key"` // want `field "key": the value of its field "key" is hidden, so it must not go through a form`
}

var plain = elicit.NewQuestion[Key]("key", "Which key?")
