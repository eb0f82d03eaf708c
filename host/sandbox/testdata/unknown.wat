;; Imports of a browser's toolchain.
(module
  (import "env" "abort" (func (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "_start")))
