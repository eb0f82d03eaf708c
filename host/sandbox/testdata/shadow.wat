;; Recursion without end on a stack in memory, as languages have for what has an
;; address, with nothing that looks for its end.
(module
  (memory (export "memory") 1)
  (global $sp (mut i32) (i32.const 65536))
  (func $f (result i32)
    (global.set $sp (i32.sub (global.get $sp) (i32.const 4096)))
    (i32.store (global.get $sp) (i32.const 1))
    (i32.add (i32.load (global.get $sp)) (call $f)))
  (func (export "_start") (drop (call $f))))
