package io.mallometer.internal.leak;

/**
 * What two searches of the process's memory say of a site, of which objects are lost.
 *
 * @param sought live samples that both searched for
 * @param lost those of which neither found an address
 */
record Lost(int sought, int lost) {

  Lost plus(Lost other) {
    return new Lost(sought + other.sought, lost + other.lost);
  }
}
