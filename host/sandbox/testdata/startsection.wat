;; Code that would run before the call begins.
(module
  (memory (export "memory") 1)
  (func $early (loop br 0))
  (func (export "_start"))
  (start $early))
