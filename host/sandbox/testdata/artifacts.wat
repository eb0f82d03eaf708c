;; An executor that wants to write two files.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "{\22outcome\22:\22success\22,\22artifacts\22:[{\22path\22:\22docs/a.md\22,\22content\22:\22x\22},{\22path\22:\22notes/deep/b.md\22,\22content\22:\22y\22}]}\0a")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 112))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
