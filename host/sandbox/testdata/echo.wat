;; Writes its arguments, each ended by a zero byte, then its stdin, then the time
;; and eight random bytes.
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $now (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func $say (param $at i32) (param $len i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $len))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func (export "_start") (local $n i32)
    (drop (call $sizes (i32.const 16) (i32.const 20)))
    (drop (call $args (i32.const 1024) (i32.const 4096)))
    (call $say (i32.const 4096) (i32.load (i32.const 20)))
    (loop $more
      (i32.store (i32.const 32) (i32.const 65536))
      (i32.store (i32.const 36) (i32.const 1000))
      (drop (call $read (i32.const 0) (i32.const 32) (i32.const 1) (i32.const 40)))
      (local.set $n (i32.load (i32.const 40)))
      (if (local.get $n) (then
        (call $say (i32.const 65536) (local.get $n))
        (br $more))))
    (drop (call $now (i32.const 0) (i64.const 1) (i32.const 48)))
    (drop (call $random (i32.const 56) (i32.const 8)))
    (call $say (i32.const 48) (i32.const 16))))
