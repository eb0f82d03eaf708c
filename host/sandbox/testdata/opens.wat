;; Opens its first folder until that fails, leaves all of it open, then reads the
;; folder with a buffer as long as there can be. It writes the number of the first
;; error, as two digits.
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) ".")
  (func (export "_start") (local $errno i32)
    (loop $more
      (local.set $errno (call $open (i32.const 3) (i32.const 1) (i32.const 64) (i32.const 1)
        (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 72)))
      (br_if $more (i32.eqz (local.get $errno))))
    (drop (call $readdir (i32.const 3) (i32.const 128) (i32.const -1) (i64.const 0) (i32.const 40)))
    (i32.store8 (i32.const 80) (i32.add (i32.const 48) (i32.div_u (local.get $errno) (i32.const 10))))
    (i32.store8 (i32.const 81) (i32.add (i32.const 48) (i32.rem_u (local.get $errno) (i32.const 10))))
    (i32.store (i32.const 0) (i32.const 80))
    (i32.store (i32.const 4) (i32.const 2))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
