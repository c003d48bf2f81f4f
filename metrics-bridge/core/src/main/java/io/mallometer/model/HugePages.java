package io.mallometer.model;

import java.util.List;

/**
 * Resident memory in transparent huge pages, which the kernel makes resident as a whole at the
 * first access to any byte of it.
 *
 * <p>The kernel does not tell which bytes of a huge page were accessed. But a page of 4 KiB that
 * was never written holds nothing but zeros, so those that do are all that huge pages can have
 * added. Some of them the program wrote with zeros: they would be resident anyway, and the figure
 * is an upper bound.
 *
 * @param bytes in huge pages, as the kernel counts them
 * @param emptyBytes the part of it in pages of zeros, estimated from pages that were looked at; not
 *     a number if memory cannot be looked at
 * @param parts the same for each part of the resident set, most first; memory of malloc is {@link
 *     ResidentPart#MALLOC}, in use or not
 * @param sentence the result in one sentence
 * @param advice what to set so that less is resident; empty if there is little to gain
 */
public record HugePages(
    long bytes, Estimate emptyBytes, List<Part> parts, String sentence, List<Advice> advice) {

  /**
   * The huge pages of one part.
   *
   * @param part whose
   * @param bytes in huge pages
   * @param emptyBytes the part of it in pages of zeros
   */
  public record Part(ResidentPart part, long bytes, Estimate emptyBytes) {}

  public HugePages {
    parts = List.copyOf(parts);
    advice = List.copyOf(advice);
  }
}
