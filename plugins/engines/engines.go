// Package engines holds interpreters that are plugins themselves: with one of them
// a guard or an executor is a script, in a folder that the configuration names and
// pins, and no compiler is needed. It promises the bytes of each as they were built
// by the recipe beside them; it runs nothing. All functions may be called
// concurrently.
package engines

import _ "embed"

//go:embed quickjs/quickjs.wasm
var quickjs []byte

//go:embed quickjs/engine.d.ts
var quickjsTypes []byte

//go:embed quickjs/LICENSE.txt
var quickjsLicence []byte

// The files of an engine, as they are handed out with a script.
const (
	QuickJSFile    = "quickjs.wasm"
	QuickJSTypes   = "engine.d.ts"
	QuickJSLicence = "quickjs.LICENSE"
)

// QuickJS gives the files of the JavaScript engine, by name: the module, what a
// script can call, for editors, and the licence that goes with it. They may not be
// changed.
func QuickJS() map[string][]byte {
	return map[string][]byte{QuickJSFile: quickjs, QuickJSTypes: quickjsTypes, QuickJSLicence: quickjsLicence}
}
