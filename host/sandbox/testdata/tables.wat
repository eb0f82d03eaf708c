;; Takes table entries until it gets none, which are memory outside its own: 30 GiB
;; at once, or as its argument says 900 MiB (m) or 128 MiB (s), and touches them.
(module
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (elem declare func $nothing)
  (func $nothing)
  (func (export "_start") (local $op i32) (local $n i32)
    (drop (call $args (i32.const 16) (i32.const 1024)))
    (local.set $op (i32.load8_u (i32.load (i32.const 20))))
    (local.set $n (i32.const 4000000000))
    (if (i32.eq (local.get $op) (i32.const 109)) (then (local.set $n (i32.const 120000000))))
    (if (i32.eq (local.get $op) (i32.const 115)) (then (local.set $n (i32.const 16000000))))
    (loop $more
      (br_if $more (i32.ne (table.grow $t (ref.func $nothing) (local.get $n)) (i32.const -1))))
    unreachable))
