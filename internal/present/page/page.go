package page

import (
	_ "embed" // the page's parts
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// Page is what a capture's page is made of.
type Page struct {
	Report    *analysis.Report
	Collector *Collector
}

// The parts of the page, in the order in which they are put into it.
var (
	//go:embed page.html
	shell string
	//go:embed page.css
	styles string
	//go:embed data.js
	dataScript string
	//go:embed axis.js
	axisScript string
	//go:embed diagram.js
	diagramScript string
	//go:embed charts.js
	chartsScript string
	//go:embed tables.js
	tablesScript string
	//go:embed main.js
	mainScript string
)

// listed is how many conversations the text has that is shown where no script
// runs.
const listed = 50

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	// Marshal escapes <, > and &, so that no name in a capture ends the script
	// element.
	content, err := json.Marshal(p.collect())
	if err != nil {
		return err
	}
	var text strings.Builder
	plain := analysis.Text{Style: analysis.NewStyle(false), Conversations: listed}
	if err := plain.Write(&text, p.Report); err != nil {
		return err
	}
	page, err := template.New("page").Parse(shell)
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"File":   p.Report.File,
		"Text":   text.String(),
		"Styles": template.CSS(styles),
		"Script": template.JS(strings.Join([]string{dataScript, axisScript, diagramScript, chartsScript, tablesScript, mainScript}, "\n")),
		"Data":   template.JS(content),
	})
}
