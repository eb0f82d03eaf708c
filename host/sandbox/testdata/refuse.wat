;; A guard that refuses with a reason.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "{\22verdict\22:\22refuse\22,\22reasons\22:[{\22message\22:\22no stories\22,\22path\22:\22/project/spec.md\22,\22fix\22:\22write one\22}]}\0a")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 102))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
