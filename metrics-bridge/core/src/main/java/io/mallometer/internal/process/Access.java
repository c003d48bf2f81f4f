package io.mallometer.internal.process;

/** What a process may do with a mapping. */
enum Access {
  NONE,
  /** Read and write, and not execute. */
  WRITABLE,
  OTHER;

  /** From the kernel's letters, such as {@code rw-}. */
  static Access of(int read, int write, int execute) {
    if (execute == '-' && read == 'r' && write == 'w') {
      return WRITABLE;
    }
    return execute == '-' && read == '-' && write == '-' ? NONE : OTHER;
  }
}
