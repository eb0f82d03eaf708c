;; Waits for ever in the way that its argument names, and passes no loop but by the
;; host: r reads stdin behind its end, s sleeps an hour, p polls stdin, y yields.
(module
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory (export "memory") 2)
  (func (export "_start") (local $op i32)
    (drop (call $args (i32.const 16) (i32.const 1024)))
    (local.set $op (i32.load8_u (i32.load (i32.const 20))))
    (i32.store (i32.const 32) (i32.const 65536))
    (i32.store (i32.const 36) (i32.const 64))
    (if (i32.eq (local.get $op) (i32.const 112)) ;; p: readable stdin
      (then (i32.store8 (i32.const 136) (i32.const 1)))
      (else ;; a relative clock of an hour
        (i32.store8 (i32.const 136) (i32.const 0))
        (i32.store (i32.const 144) (i32.const 1))
        (i64.store (i32.const 152) (i64.const 3600000000000))))
    (loop $more
      (if (i32.eq (local.get $op) (i32.const 114))
        (then (drop (call $read (i32.const 0) (i32.const 32) (i32.const 1) (i32.const 40)))))
      (if (i32.eq (local.get $op) (i32.const 121))
        (then (drop (call $yield))))
      (if (i32.or (i32.eq (local.get $op) (i32.const 115)) (i32.eq (local.get $op) (i32.const 112)))
        (then (drop (call $poll (i32.const 128) (i32.const 256) (i32.const 1) (i32.const 40)))))
      (br $more))))
