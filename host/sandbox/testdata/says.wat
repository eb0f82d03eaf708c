;; Answers with its first argument.
(module
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start") (local $at i32)
    (drop (call $args (i32.const 16) (i32.const 1024)))
    (local.set $at (i32.load (i32.const 20)))
    (i32.store (i32.const 0) (local.get $at))
    (loop $more
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $more (i32.load8_u (local.get $at))))
    (i32.store (i32.const 4) (i32.sub (local.get $at) (i32.load (i32.const 0))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
