package io.mallometer.internal.leak;

/** Why idle objects are no leak. */
enum Acquittal {
  /** Their arrivals have ended or fallen off. */
  CEASED("no more of them come"),
  /** Others that were as idle were used or freed afterwards. */
  USED_AGAIN("some of them are used or freed again"),
  /** What has come does not tell whether they keep coming. */
  TOO_FEW("too few have come to call it a leak");

  private final String words;

  Acquittal(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
