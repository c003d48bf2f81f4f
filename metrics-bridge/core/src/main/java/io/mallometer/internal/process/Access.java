package io.mallometer.internal.process;

/** Access of a process to a mapping. */
enum Access {
  NONE,
  WRITABLE,
  OTHER;

  /** Returns the access that the kernel's letters mean, such as {@code rw-}. */
  static Access of(int read, int write, int execute) {
    if (execute == '-' && read == 'r' && write == 'w') {
      return WRITABLE;
    }
    return execute == '-' && read == '-' && write == '-' ? NONE : OTHER;
  }
}
