package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// file is one parsed Go file of the module.
type file struct {
	path    string // from the module's root, with slashes
	dir     string // its package: "internal/wire", "." for the root
	test    bool
	lines   int
	imports []imported
	fset    *token.FileSet
	syntax  *ast.File
}

// imported is one import of a file. Packages of this module lose the module's
// path and gain "./", so that "./internal/wire" and "os" cannot be confused.
type imported struct {
	path string
	name string // how the file calls the package
	line int
}

// breach is one place where the tree breaks a wall.
type breach struct {
	path string
	line int
	what string
	why  string
}

func (b breach) String() string {
	return fmt.Sprintf("%s:%d: %s\n\twhy not: %s", b.path, b.line, b.what, b.why)
}

func (f *file) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

func (f *file) breach(line int, why, format string, args ...any) breach {
	return breach{f.path, line, fmt.Sprintf(format, args...), why}
}

// load parses every Go file below the root, whatever its build constraints.
// Nested modules, testdata and hidden folders are not part of the module.
func load(tree fs.FS) ([]*file, error) {
	var files []*file
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name != "." && foreign(tree, name) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parse(name, src)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

func foreign(tree fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

func parse(name string, src []byte) (*file, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{
		path:   name,
		dir:    path.Dir(name),
		test:   strings.HasSuffix(name, "_test.go"),
		lines:  strings.Count(string(src), "\n"),
		fset:   fset,
		syntax: syntax,
	}
	for _, spec := range syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imp := imported{path: p, name: packageName(p), line: f.line(spec)}
		if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			imp.path = "./" + rest
		}
		if spec.Name != nil {
			imp.name = spec.Name.Name
		}
		f.imports = append(f.imports, imp)
	}
	return f, nil
}

// packageName guesses a package's name from its import path; "math/rand/v2" is
// called rand.
func packageName(importPath string) string {
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		return path.Base(path.Dir(importPath))
	}
	return base
}

// under reports whether a folder is one of roots or lies below one.
func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return dir == root || strings.HasPrefix(dir, root+"/")
	})
}
