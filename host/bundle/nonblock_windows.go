package bundle

const openNonblock = 0
