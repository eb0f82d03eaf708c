;; Calls itself twice, and so on: at the bottom it fills and copies 16 MiB, or asks
;; for random bytes (argument r), and no loop is ever passed.
(module
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 512)
  (global $op (mut i32) (i32.const 0))
  (func $work (param $depth i32)
    (if (local.get $depth)
      (then
        (call $work (i32.sub (local.get $depth) (i32.const 1)))
        (call $work (i32.sub (local.get $depth) (i32.const 1))))
      (else
        (if (i32.eq (global.get $op) (i32.const 102)) ;; f
          (then (memory.fill (i32.const 65536) (i32.const 1) (i32.const 16777216))))
        (if (i32.eq (global.get $op) (i32.const 99)) ;; c
          (then (memory.copy (i32.const 65536) (i32.const 131072) (i32.const 16777216))))
        (if (i32.eq (global.get $op) (i32.const 114)) ;; r
          (then (drop (call $random (i32.const 65536) (i32.const 65536))))))))
  (func (export "_start")
    (drop (call $args (i32.const 16) (i32.const 1024)))
    (global.set $op (i32.load8_u (i32.load (i32.const 20))))
    (call $work (i32.const 60))))
