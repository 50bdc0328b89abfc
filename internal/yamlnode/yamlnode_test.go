package yamlnode

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// walk lists the pairs of a mapping as key=value.
func walk(n *yaml.Node) (list []string, err error) {
	err = Pairs(n, func(key string, _, v *yaml.Node) error {
		list = append(list, key+"="+v.Value)
		return nil
	})
	return list, err
}

func TestPairsComeInTheirOrderAndAliasesAreResolved(t *testing.T) {
	n := parse(t, "{first: &x 1, second: *x, map: &m {a: 1}, again: *m}")
	got, err := walk(n)
	if diff := cmp.Diff([]string{"first=1", "second=1", "map=", "again="}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := walk(Find(n, "again")); !cmp.Equal(got, []string{"a=1"}) || err != nil {
		t.Error(got, err)
	}
	if n := Find(n, "third"); n != nil {
		t.Errorf("found %v", n)
	}
	if got, err := walk(parse(t, "null")); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{a: 1, b: 2, a: 3}": `line 1, column 14: "a" is here twice`,
		"\n[1]":              "line 2, column 1: want names with values",
		"  five":             "line 1, column 3: want names with values",
	} {
		if _, err := walk(parse(t, text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := Items(parse(t, "{a: 1}"))
	var placed *Error
	if !errors.As(err, &placed) || placed.Line != 1 || !strings.Contains(placed.Reason, "list") {
		t.Error(err)
	}
}

func TestItemsOfAList(t *testing.T) {
	list, err := Items(Find(parse(t, "{x: &x 1, list: [*x, 2]}"), "list"))
	if err != nil || len(list) != 2 || list[0].Value != "1" || list[1].Value != "2" {
		t.Error(list, err)
	}
	if list, err := Items(parse(t, "null")); list != nil || err != nil {
		t.Error(list, err)
	}
}

func TestRootIsTheOnlyDocument(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"# nothing":       "",
		"---\n":           "",
		"a: 1":            "",
		"a: 1\n---\n":     "",
		"a: 1\n---\nb: 2": "line 3, column 1: a second document; want one",
		"[":               "yaml: ",
		"a: 1\n---\n[":    "yaml: ",
	} {
		_, err := Root([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
