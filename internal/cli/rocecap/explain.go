package rocecap

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

func newExplain(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Say what a finding of analyze means, what causes it, and what to look at",
		Long: `explain says what the codes of analyze's findings mean. Without a code it lists
them all.`,
		Example: `  rocecap explain
  rocecap explain RESEND-TIMEOUT`,
		RunE: func(_ *cobra.Command, args []string) error { return explain(s, args) },
	}
}

func explain(s Streams, names []string) error {
	if len(names) == 0 {
		for _, c := range analysis.Codes() {
			fmt.Fprintf(s.Out, "%-20s %-8s %s\n", c.Name, c.Grade, c.Title)
		}
		return nil
	}
	var text []byte
	for i, name := range names {
		c, ok := analysis.Find(name)
		if !ok {
			return errors.New("explain " + name + ": no such code; `rocecap explain` lists them")
		}
		if i > 0 {
			text = append(text, '\n')
		}
		text = c.Append(text)
	}
	_, err := s.Out.Write(text)
	return err
}
