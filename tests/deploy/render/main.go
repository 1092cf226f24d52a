// Command render renders the templates of a Helm chart, for tests on machines without Helm: the standard library's
// text/template with those functions of Helm that the chart uses. Unknown functions are errors, so that the chart stays
// within what is tested.
//
// It reads one JSON object from standard input (chart directory, values, release, Kubernetes version, objects in the
// cluster), and writes the rendered files as a JSON object. YAML is read by the caller: this program has no parser for it.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"text/template"
)

type input struct {
	Directory   string
	Chart       map[string]any
	Values      map[string]any
	Release     map[string]any
	KubeVersion string
	// Objects that `lookup` finds, by kind and name.
	Objects map[string]any
}

type files struct{ directory string }

func (f files) Get(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(f.directory, name))
	return string(text), err
}

func main() {
	rendered, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		os.Exit(1)
	}
}

func run() (map[string]string, error) {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return nil, err
	}
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all, in.Objects))
	paths, err := templates(in.Directory)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(in.Directory, path))
		if err != nil {
			return nil, err
		}
		if _, err := all.New(path).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	context := map[string]any{
		"Values": in.Values, "Chart": in.Chart, "Release": in.Release, "Files": files{in.Directory},
		"Capabilities": map[string]any{"KubeVersion": map[string]any{"Version": in.KubeVersion}},
	}
	rendered := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, ".tpl") {
			continue
		}
		var text bytes.Buffer
		if err := all.ExecuteTemplate(&text, path, context); err != nil {
			return nil, err
		}
		// As Helm does: a missing value prints nothing.
		rendered[path] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	return rendered, nil
}

// templates returns the paths of the templates, relative to the chart.
func templates(directory string) ([]string, error) {
	var paths []string
	err := filepath.Walk(filepath.Join(directory, "templates"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		relative, err := filepath.Rel(directory, path)
		paths = append(paths, relative)
		return err
	})
	return paths, err
}

func functions(all *template.Template, objects map[string]any) template.FuncMap {
	random := 0
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text bytes.Buffer
			err := all.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"fail":    func(message string) (string, error) { return "", errors.New(message) },
		"lookup":  func(_, kind, _, name string) any { return orEmpty(objects[kind+"/"+name]) },
		"default": func(fallback any, given ...any) any { return either(given, fallback) },
		"ternary": func(yes, no any, condition bool) any {
			if condition {
				return yes
			}
			return no
		},
		"list":          func(items ...any) []any { return items },
		"has":           func(item any, items []any) bool { return contains(items, item) },
		"dict":          dict,
		"set":           func(d map[string]any, key string, value any) map[string]any { d[key] = value; return d },
		"get":           func(d map[string]any, key string) any { return orText(d[key]) },
		"hasKey":        func(d map[string]any, key string) bool { _, found := d[key]; return found },
		"dig":           dig,
		"kindIs":        func(kind string, value any) bool { return kindOf(value) == kind },
		"int":           func(value any) int { return int(number(value)) },
		"floor":         func(value any) float64 { return math.Floor(number(value)) },
		"int64":         func(value any) int64 { return int64(number(value)) },
		"quote":         func(value any) string { return strconv.Quote(fmt.Sprint(orText(value))) },
		"toString":      func(value any) string { return fmt.Sprint(value) },
		"join":          join,
		"trunc":         func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix":    func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"contains":      func(part, text string) bool { return strings.Contains(text, part) },
		"replace":       func(old, new, text string) string { return strings.ReplaceAll(text, old, new) },
		"nindent":       func(width int, text string) string { return "\n" + indent(width, text) },
		"toYaml":        func(value any) string { return strings.TrimPrefix(toYAML(value), "\n") },
		"toJson":        toJSON,
		"fromYaml":      fromLines,
		"fromJsonArray": func(text string) (items []any, err error) { err = json.Unmarshal([]byte(text), &items); return },
		"b64enc":        func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"sha256sum":     func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		// The same in every run, and different from each other.
		"randAlphaNum": func(length int) string {
			random++
			return strings.Repeat(string(rune('A'+random%26)), length)
		},
		"uuidv4":        func() string { return "00000000-0000-4000-8000-000000000000" },
		"semverCompare": olderThan,
	}
}

func dict(pairs ...any) map[string]any {
	result := map[string]any{}
	for index := 0; index+1 < len(pairs); index += 2 {
		result[fmt.Sprint(pairs[index])] = pairs[index+1]
	}
	return result
}

// dig follows keys; the last two arguments are the default and the object.
func dig(arguments ...any) (any, error) {
	keys, fallback, value := arguments[:len(arguments)-2], arguments[len(arguments)-2], arguments[len(arguments)-1]
	for _, key := range keys {
		object, isObject := value.(map[string]any)
		next, found := object[fmt.Sprint(key)]
		if !isObject || !found {
			return fallback, nil
		}
		value = next
	}
	return value, nil
}

func either(given []any, fallback any) any {
	if len(given) == 0 || isEmpty(given[0]) {
		return fallback
	}
	return given[0]
}

func isEmpty(value any) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

func orEmpty(value any) any {
	if value == nil {
		return map[string]any{}
	}
	return value
}

func orText(value any) any {
	if value == nil {
		return ""
	}
	return value
}

func kindOf(value any) string {
	if value == nil {
		return "invalid"
	}
	return reflect.ValueOf(value).Kind().String()
}

func number(value any) float64 {
	result, _ := strconv.ParseFloat(fmt.Sprint(value), 64)
	return result
}

func contains(items []any, item any) bool {
	for _, other := range items {
		if other == item {
			return true
		}
	}
	return false
}

func join(separator string, items []any) string {
	texts := make([]string, len(items))
	for index, item := range items {
		texts[index] = fmt.Sprint(item)
	}
	return strings.Join(texts, separator)
}

func indent(width int, text string) string {
	space := strings.Repeat(" ", width)
	return space + strings.ReplaceAll(text, "\n", "\n"+space)
}

func toJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// toYAML writes a value in block style, as Helm does: templates put the lines among others.
func toYAML(value any) string {
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		lines := ""
		for _, key := range keys {
			lines += "\n" + strconv.Quote(key) + ":" + nested(value[key])
		}
		return orWord(lines, "{}")
	case []any:
		lines := ""
		for _, item := range value {
			lines += "\n-" + nested(item)
		}
		return orWord(lines, "[]")
	default:
		text, _ := toJSON(value)
		return text
	}
}

// nested writes a value after a key or a dash.
func nested(value any) string {
	text := toYAML(value)
	if strings.HasPrefix(text, "\n") {
		return strings.ReplaceAll(text, "\n", "\n  ")
	}
	return " " + text
}

func orWord(lines, word string) string {
	if lines == "" {
		return word
	}
	return lines
}

// fromLines reads `key: "value"` lines, the only YAML that the templates parse.
func fromLines(text string) (map[string]any, error) {
	result := map[string]any{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		key, value, found := strings.Cut(line, ": ")
		if !found {
			return nil, fmt.Errorf("expected `key: \"value\"`, found %q", line)
		}
		text, err := strconv.Unquote(value)
		if err != nil {
			return nil, err
		}
		result[key] = text
	}
	return result, nil
}

// olderThan is the only comparison of versions that the chart needs: `<1.35.0-0`.
func olderThan(constraint, version string) (bool, error) {
	limit := regexp.MustCompile(`^<(\d+)\.(\d+)\.0-0$`).FindStringSubmatch(constraint)
	actual := regexp.MustCompile(`^v?(\d+)\.(\d+)\.`).FindStringSubmatch(version)
	if limit == nil || actual == nil {
		return false, fmt.Errorf("cannot compare %q with %q", version, constraint)
	}
	for part := 1; part <= 2; part++ {
		if number(actual[part]) != number(limit[part]) {
			return number(actual[part]) < number(limit[part]), nil
		}
	}
	return false, nil
}
