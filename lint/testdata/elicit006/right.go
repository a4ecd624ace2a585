package elicit006

import (
	"context"
	"encoding/json"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/page"
)

type Size string

func (Size) ElicitOptions() []form.Option[Size] { return form.Options[Size]("s", "l") }

type Level int

func (l Level) String() string { return fmt.Sprint("level ", int(l)) }

func (Level) ElicitOptions() []form.Option[Level] { return form.Options[Level](1, 2) }

type common struct {
	ID   string `json:"id"`
	self *common
}

type Tree struct {
	*Tree
	common
	Name string `json:"name"`
}

type Page[T any] struct {
	Items T      `json:"items"`
	Next  string `json:"next"`
}

type Right struct {
	common
	Tracking   string       `json:"tracking" jsonschema:"printed on the label" elicit:"title='Number, as printed',minLength=8"`
	Parcels    uint8        `json:"parcels" elicit:"max=10,default=1"`
	Weight     float32      `json:"weight,omitempty" elicit:"min=0.5"`
	Size       Size         `json:"size" elicit:"default=l"`
	Sizes      []Size       `json:"sizes" elicit:"default=s|l"`
	Level      Level        `json:"level"`
	Extras     []string     `json:"extras" elicit:"enum=insurance|signature,maxItems=1"`
	At         time.Time    `json:"at" elicit:"format=date"`
	Day        form.Day     `json:"day"`
	Mail       mail.Address `json:"mail"`
	URL        url.URL      `json:"url"`
	Host       netip.Addr   `json:"host"`
	Note       *string      `json:"note"`
	TokenCount int          `json:"tokenCount"`
	PIN        string       `json:"pin" elicit:"notCredential"`
	Hidden     func()       `json:"-"`
	unexported chan int
}

var (
	right = elicit.NewQuestion[Right]("right", "What?")
	tree  = elicit.NewQuestion[Tree]("tree", "What?")
	items = elicit.NewQuestion[Page[string]]("page", "What?")
	docs  = elicit.Confirm("docs", "As in https://example.com/docs. Sure?")
)

func dynamic(ctx context.Context, key, message string, free []string, n int, more []form.Field, raw json.RawMessage) error {
	seat := form.Choice("seat", form.Options(free...)...).Default(free[0])
	count := form.Int("count").Range(1, int64(n)).Default(5)
	level := form.Choice("level", form.Opt(Level(1), "One"), form.Opt(Level(1), "Two"))
	link := form.String("page").Description("the page " + message)
	titled := form.String("label").Titlef("%s of %s", message, key)
	for _, f := range []*form.Form[form.Values]{form.New(seat, count, level, link, titled), form.New(more...)} {
		if _, err := elicit.NewFormQuestion(key, message, f).Value(ctx); err != nil {
			return err
		}
	}
	_, err := elicit.Input(key+":x", message).WithKey(key).WithMessagef(message).Value(ctx)
	return err
}

var machine = elicit.NewFormQuestion("machine", "Which?", form.Build(func(m *Machine) []form.Field {
	return []form.Field{
		form.ChoiceOf(&m.Size, form.Opt("s", "Small"), form.Opt("l", "Large")).Default("l"),
		form.IntOf(&m.Nodes).Range(1, 5),
		form.StringOf(m.Label).Title("Name tag"),
		form.StringOf(&m.Token).NotCredential(),
	}
}))

var sized = form.Build(func(r *Right) []form.Field {
	return []form.Field{
		form.ChoiceOf(&r.Size).Default("l"),
		form.ChoicesOf(&r.Sizes),
		form.ChoiceOf(&r.Level).Default(2),
		form.DateOf(&r.Day),
		form.EmailOf(&r.Mail),
		form.URIOf(&r.URL),
		form.TextOf(&r.Host),
		form.NumberOf(&r.Weight),
		form.StringOf(r.Note),
		form.StringOf(&r.ID),
	}
})

func made[T any](key string) *elicit.Question[T] { return elicit.NewQuestion[T](key, "What?") }

type Account struct {
	APIKey   page.Hidden     `json:"apiKey" elicit:"title=API key,minLength=8"`
	Password page.HiddenText `json:"password"`
}

var (
	account = page.Secret[Account]("account", "Your account at weather.example.com", page.Remember(time.Hour))
	key     = page.SecretInput("apiKey", "Your API key")
)
