// Package html shows a form of package form on a web page, and reads what the page sends back.
//
//	fields, err := html.Fields(f.Fields(), &html.Options{Values: start})  // inside of a <form method="post">
//	…
//	content := html.Content(f.Fields(), r.PostForm)
//	if problems := f.Validate(content); problems != nil {
//		fields, err = html.Fields(f.Fields(), &html.Options{Values: html.Values(content), Problems: problems})
//	}
//
// Every kind has the browser's own control: text, e-mail, address, date, date with time and zone, number, a list to choose
// from, boxes to tick. Yes and no are two buttons of which none is pressed until someone presses one, so that a question that
// nobody looked at is not answered. Each control has a label; descriptions, hints and errors are tied to it for screen
// readers. Nothing needs a script, a font or an image, and all text is escaped, so that a form that came from elsewhere can
// do nothing but be read. [Style] is a style sheet for it, for light and dark, large screens and phones.
package html
