;; One operation on a file: arguments are a letter and a path relative to the
;; first folder. It writes what it read, or an exclamation mark and the error's
;; number as two digits.
;;   r read    w open for writing   c create   t truncate   m make a folder
;;   u remove  l list               s stat     h fd_renumber (the path is not used)
(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_create_directory" (func $mkdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $unlink (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 4)
  (global $path (mut i32) (i32.const 0))
  (global $len (mut i32) (i32.const 0))
  (func $say (param $at i32) (param $n i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $n))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $check (param $errno i32)
    (if (local.get $errno) (then
      (i32.store8 (i32.const 64) (i32.const 33))
      (i32.store8 (i32.const 65) (i32.add (i32.const 48) (i32.div_u (local.get $errno) (i32.const 10))))
      (i32.store8 (i32.const 66) (i32.add (i32.const 48) (i32.rem_u (local.get $errno) (i32.const 10))))
      (call $say (i32.const 64) (i32.const 3))
      (call $exit (i32.const 0)))))
  (func $opened (param $oflags i32) (param $rights i64) (result i32)
    (call $check (call $open (i32.const 3) (i32.const 1) (global.get $path) (global.get $len)
      (local.get $oflags) (local.get $rights) (i64.const 0) (i32.const 0) (i32.const 72)))
    (i32.load (i32.const 72)))
  (func $copy (param $fd i32) (local $n i32)
    (loop $more
      (i32.store (i32.const 32) (i32.const 65536))
      (i32.store (i32.const 36) (i32.const 65536))
      (call $check (call $read (local.get $fd) (i32.const 32) (i32.const 1) (i32.const 40)))
      (local.set $n (i32.load (i32.const 40)))
      (if (local.get $n) (then
        (call $say (i32.const 65536) (local.get $n))
        (br $more)))))
  (func $list (param $fd i32) (local $at i32) (local $end i32) (local $n i32)
    (call $check (call $readdir (local.get $fd) (i32.const 65536) (i32.const 65536) (i64.const 0) (i32.const 40)))
    (local.set $at (i32.const 65536))
    (local.set $end (i32.add (i32.const 65536) (i32.load (i32.const 40))))
    (loop $more
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (local.set $n (i32.load offset=16 (local.get $at)))
        (call $say (i32.add (local.get $at) (i32.const 24)) (local.get $n))
        (i32.store8 (i32.const 64) (i32.const 10))
        (call $say (i32.const 64) (i32.const 1))
        (local.set $at (i32.add (local.get $at) (i32.add (i32.const 24) (local.get $n))))
        (br $more)))))
  (func (export "_start") (local $op i32) (local $fd i32)
    (call $check (call $sizes (i32.const 16) (i32.const 20)))
    (call $check (call $args (i32.const 1024) (i32.const 4096)))
    (local.set $op (i32.load8_u (i32.load (i32.const 1028))))
    (global.set $path (i32.load (i32.const 1032)))
    (global.set $len (i32.sub (i32.sub (i32.load (i32.const 1036)) (global.get $path)) (i32.const 1)))
    (if (i32.eq (local.get $op) (i32.const 114)) (then
      (call $copy (call $opened (i32.const 0) (i64.const 2)))))
    (if (i32.eq (local.get $op) (i32.const 119)) (then
      (drop (call $opened (i32.const 0) (i64.const 66)))))
    (if (i32.eq (local.get $op) (i32.const 99)) (then
      (drop (call $opened (i32.const 1) (i64.const 2)))))
    (if (i32.eq (local.get $op) (i32.const 116)) (then
      (drop (call $opened (i32.const 8) (i64.const 2)))))
    (if (i32.eq (local.get $op) (i32.const 109)) (then
      (call $check (call $mkdir (i32.const 3) (global.get $path) (global.get $len)))))
    (if (i32.eq (local.get $op) (i32.const 117)) (then
      (call $check (call $unlink (i32.const 3) (global.get $path) (global.get $len)))))
    (if (i32.eq (local.get $op) (i32.const 115)) (then
      (call $check (call $stat (i32.const 3) (i32.const 1) (global.get $path) (global.get $len) (i32.const 128)))))
    (if (i32.eq (local.get $op) (i32.const 104)) (then
      (local.set $fd (call $opened (i32.const 0) (i64.const 2)))
      (call $check (call $renumber (local.get $fd) (i32.const 2000000000)))))
    (if (i32.eq (local.get $op) (i32.const 108)) (then
      (call $list (call $opened (i32.const 2) (i64.const 2)))))))
