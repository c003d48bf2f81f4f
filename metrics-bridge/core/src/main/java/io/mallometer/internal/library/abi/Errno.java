package io.mallometer.internal.library.abi;

/** The values of errno(3), negated, as functions of the library return them. */
final class Errno {

  static final int EPERM = -1;
  static final int ESRCH = -3;
  static final int EAGAIN = -11;
  static final int ENOMEM = -12;
  static final int EBUSY = -16;
  static final int EINVAL = -22;
  static final int ENODATA = -61;
  static final int ENOTSUP = -95;

  private Errno() {}
}
