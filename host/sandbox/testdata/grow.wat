;; Takes memory page by page, touches it, and crashes when it gets none.
(module
  (memory (export "memory") 1)
  (func (export "_start") (local $at i32)
    (loop $more
      (local.set $at (memory.grow (i32.const 16)))
      (if (i32.eq (local.get $at) (i32.const -1)) (then unreachable))
      (i32.store (i32.mul (local.get $at) (i32.const 65536)) (i32.const 1))
      (br $more))))
