;; Sleeps for a day, then writes how many hours the clock moved: 24.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $now (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $begin i64) (local $hours i32)
    (drop (call $now (i32.const 0) (i64.const 1) (i32.const 200)))
    (local.set $begin (i64.load (i32.const 200)))
    (i64.store (i32.const 24) (i64.const 86400000000000)) ;; timeout of the subscription at 0
    (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 180)))
    (drop (call $now (i32.const 0) (i64.const 1) (i32.const 200)))
    (local.set $hours (i32.wrap_i64 (i64.div_u
      (i64.sub (i64.load (i32.const 200)) (local.get $begin)) (i64.const 3600000000000))))
    (i32.store8 (i32.const 216) (i32.add (i32.const 48) (i32.div_u (local.get $hours) (i32.const 10))))
    (i32.store8 (i32.const 217) (i32.add (i32.const 48) (i32.rem_u (local.get $hours) (i32.const 10))))
    (i32.store (i32.const 208) (i32.const 216))
    (i32.store (i32.const 212) (i32.const 2))
    (drop (call $write (i32.const 1) (i32.const 208) (i32.const 1) (i32.const 204)))))
