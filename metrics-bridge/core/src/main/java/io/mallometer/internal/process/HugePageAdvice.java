package io.mallometer.internal.process;

import io.mallometer.internal.text.Words;
import io.mallometer.model.Advice;
import io.mallometer.model.Estimate;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Says in words what transparent huge pages cost, and what to set.
 *
 * <p>The JVM asks for huge pages for its heap, code and tables, glibc or jemalloc for malloc, and
 * the kernel makes them for all where its setting is {@code always}. Then the kernel's setting has
 * to change as well as the JVM's or glibc's; jemalloc's alone forbids them. Advice is given if the
 * gain is at least 32 MiB and a twentieth of the limit, or without a limit of the resident set.
 */
final class HugePageAdvice {

  private static final double LEAST_BYTES = 32 << 20;
  private static final double LEAST_SHARE = 0.05;
  private static final int MOST_PARTS = 3;

  private static final String IN_STARTER =
      "prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) in the process that starts the JVM";

  private static final String IN_KERNEL =
      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled on the host, or " + IN_STARTER;

  private final List<HugePages.Part> parts;
  private final double reference;
  private final List<Advice> advice = new ArrayList<>();

  private HugePageAdvice(List<HugePages.Part> parts, double reference) {
    this.parts = parts;
    this.reference = reference;
  }

  /**
   * Concludes.
   *
   * @param parts those with huge pages, most first
   * @param limitBytes the limit that somebody set; {@code NaN} without one
   */
  static HugePages of(
      List<HugePages.Part> parts,
      double residentBytes,
      double limitBytes,
      HugePageSettings settings) {
    long bytes = parts.stream().mapToLong(HugePages.Part::bytes).sum();
    Estimate empty =
        parts.stream()
            .map(HugePages.Part::emptyBytes)
            .reduce(Estimate.ZERO, Estimate::plus)
            .atMost(bytes);
    HugePageAdvice found =
        new HugePageAdvice(parts, Double.isNaN(limitBytes) ? residentBytes : limitBytes);
    found.advise(settings);
    return new HugePages(
        bytes, empty, parts, sentence(bytes, empty, parts, residentBytes), found.advice);
  }

  private static String sentence(
      long bytes, Estimate empty, List<HugePages.Part> parts, double residentBytes) {
    if (bytes == 0) {
      return "The resident set has no transparent huge pages.";
    }
    String held =
        "%s of the resident set is in transparent huge pages (%s)"
            .formatted(Words.bytes(bytes), Words.share(bytes / residentBytes));
    if (Double.isNaN(empty.value())) {
      return held + "; how much of it is empty is not known, because memory cannot be read.";
    }
    return held
        + "; %s (%s to %s), %s of the resident set, is pages of zeros, the most that is resident only because of them: %s."
            .formatted(
                Words.bytes(empty.value()),
                Words.bytes(empty.low()),
                Words.bytes(empty.high()),
                Words.share(empty.value() / residentBytes),
                parts.stream()
                    .limit(MOST_PARTS)
                    .map(part -> part.part().tag() + " " + Words.bytes(part.emptyBytes().value()))
                    .collect(Collectors.joining(", ")));
  }

  private void advise(HugePageSettings settings) {
    List<HugePages.Part> others = new ArrayList<>();
    List<HugePages.Part> jvms = new ArrayList<>();
    for (HugePages.Part part : parts) {
      boolean malloc = part.part() == ResidentPart.MALLOC;
      if (malloc && settings.byGlibc()) {
        asked(List.of(part), "glibc", "GLIBC_TUNABLES without glibc.malloc.hugetlb", settings);
      } else if (malloc && settings.byJemalloc()) {
        add(
            List.of(part),
            "jemalloc asks for them",
            "thp:never in place of thp:always in MALLOC_CONF");
      } else if (!malloc && part.part() != ResidentPart.THREAD_STACKS && settings.byJvm()) {
        jvms.add(part);
      } else {
        others.add(part);
      }
    }
    asked(jvms, "the JVM", "-XX:-UseTransparentHugePages", settings);
    if (settings.always()) {
      add(others, "the kernel makes them without being asked", IN_KERNEL);
    } else {
      add(others, "the program asks for them by madvise(2)", IN_STARTER);
    }
  }

  /** Without the request they remain where the kernel makes them anyway. */
  private void asked(
      List<HugePages.Part> of, String by, String setting, HugePageSettings settings) {
    if (settings.always()) {
      add(
          of,
          by + " asks for them, and the kernel makes them without being asked",
          setting + ", together with " + IN_KERNEL);
    } else {
      add(of, by + " asks for them", setting);
    }
  }

  private void add(List<HugePages.Part> of, String cause, String setting) {
    double gain = of.stream().mapToDouble(part -> part.emptyBytes().value()).sum();
    if (gain >= LEAST_BYTES && gain >= LEAST_SHARE * reference) {
      advice.add(
          new Advice(
              "huge-pages",
              "at most %s of %s is resident only because of transparent huge pages: %s; without them the processor looks up addresses more often"
                  .formatted(
                      Words.bytes(gain),
                      of.stream().map(part -> part.part().tag()).collect(Collectors.joining(", ")),
                      cause),
              setting));
    }
  }
}
