package io.mallometer.internal.leak;

/** The reason why idle objects are no leak. */
enum NoLeakReason {
  /** The program allocates no more objects that become idle, or far fewer than at first. */
  CEASED("no more such objects arrive"),
  USED_AGAIN("some such objects were used or freed later"),
  TOO_FEW("too few objects have arrived to call it a leak");

  private final String words;

  NoLeakReason(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
