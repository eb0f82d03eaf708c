;; An executor that asks.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "{\22outcome\22:\22question\22,\22question\22:{\22key\22:\22db\22,\22question\22:\22Which database?\22,\22options\22:[\22postgres\22,\22sqlite\22]}}\0a")
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 108))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
