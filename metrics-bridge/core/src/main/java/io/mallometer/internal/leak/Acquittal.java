package io.mallometer.internal.leak;

/** Why idle objects are no leak. */
enum Acquittal {
  /** Their arrivals have ended or fallen off. */
  CEASED("no more such objects arrive"),
  /** Others that were as idle were used or freed afterwards. */
  USED_AGAIN("some such objects were used or freed later"),
  /** What has come does not tell whether they keep coming. */
  TOO_FEW("too few objects have arrived to call it a leak");

  private final String words;

  Acquittal(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
