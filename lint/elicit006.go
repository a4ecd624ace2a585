package lint

var WrongForm = rule("elicit006", "x", func(*reporter) error { return nil })
var BareSchema = rule("elicit009", "x", func(*reporter) error { return nil })
