;; Memory under no name.
(module
  (memory 1)
  (func (export "_start")))
