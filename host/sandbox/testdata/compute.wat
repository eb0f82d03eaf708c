;; fib(33), then allows: quick as machine code, slow in the interpreter.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "{\22verdict\22:\22allow\22}\0a")
  (func $fib (param i64) (result i64)
    (if (result i64) (i64.lt_u (local.get 0) (i64.const 2))
      (then (local.get 0))
      (else (i64.add
        (call $fib (i64.sub (local.get 0) (i64.const 1)))
        (call $fib (i64.sub (local.get 0) (i64.const 2)))))))
  (func (export "_start")
    (drop (call $fib (i64.const 33)))
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (i32.const 20))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
