;; Recursion without end.
(module
  (memory (export "memory") 1)
  (func $f (param i32) (result i32) (i32.add (i32.const 1) (call $f (local.get 0))))
  (func (export "_start") (drop (call $f (i32.const 0)))))
