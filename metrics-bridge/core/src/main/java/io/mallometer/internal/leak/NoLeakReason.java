package io.mallometer.internal.leak;

/** Why idle objects are no leak. */
enum NoLeakReason {
  /** Arrivals of idle objects have ended or fallen off. */
  CEASED("no more such objects arrive"),
  /** Objects that were as idle were used or freed later. */
  USED_AGAIN("some such objects were used or freed later"),
  /** The arrivals do not show whether they continue. */
  TOO_FEW("too few objects have arrived to call it a leak");

  private final String words;

  NoLeakReason(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
