package io.mallometer.internal.leak;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * A kind of simulated call site. Times are seconds since observation began.
 *
 * @param name a description
 * @param leaks whether it leaks
 * @param births when sampled objects are allocated
 * @param life how long an object lives; infinite if it is never freed
 * @param use when an object is used after its birth
 * @param bytes the size of an object
 * @param probability the probability that an object is sampled
 * @param stacks the number of call sites that have the same name
 * @param apart the seconds from the beginning of a call site to the beginning of the next one with
 *     the same name
 */
record SimulatedKind(
    String name,
    boolean leaks,
    Births births,
    Life life,
    Use use,
    long bytes,
    double probability,
    int stacks,
    double apart) {

  static final double NEVER = Double.POSITIVE_INFINITY;

  /** Returns the time of the next birth; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Births {
    double after(double time, Random random);
  }

  @FunctionalInterface
  interface Life {
    double of(double birth, Random random);
  }

  /** Returns the time of the next use of an object; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Use {
    double after(double time, double birth, Random random);
  }

  static SimulatedKind leak(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, true, births, life, use, 4_096, 0.01, 1, 0);
  }

  static SimulatedKind fine(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, false, births, life, use, 4_096, 0.01, 1, 0);
  }

  SimulatedKind of(long size, double sampled) {
    return new SimulatedKind(name, leaks, births, life, use, size, sampled, stacks, apart);
  }

  SimulatedKind over(int many) {
    return over(many, 0);
  }

  SimulatedKind over(int many, double seconds) {
    return new SimulatedKind(name, leaks, births, life, use, bytes, probability, many, seconds);
  }

  Births births(int stack) {
    double later = stack * apart;
    return (time, random) -> later + births.after(Math.max(0, time - later), random);
  }

  // ---- Births

  /** Births at random times, at a constant rate per second. */
  static Births steady(double rate) {
    return (time, random) -> time + exponential(1 / rate, random);
  }

  static Births between(double begin, double end, double rate) {
    return (time, random) -> {
      double next = Math.max(begin, time) + exponential(1 / rate, random);
      return next < end ? next : NEVER;
    };
  }

  /**
   * Births at random times. At time {@code t} the rate per second is {@code rate} times {@code
   * share(t)}.
   */
  static Births falling(double rate, DoubleUnaryOperator share) {
    return (time, random) -> {
      double next = time;
      do {
        next += exponential(1 / rate, random);
      } while (next < 100_000 && random.nextDouble() > share.applyAsDouble(next));
      return next;
    };
  }

  /** Births at random times in the first {@code length} seconds of each period. */
  static Births bursts(double period, double length, double rate) {
    return (time, random) -> {
      double next = time + exponential(1 / rate, random);
      double into = next % period;
      return into < length ? next : next - into + period + random.nextDouble() * length / 10;
    };
  }

  /**
   * Births at random times in phases of {@code length} seconds, which begin at the times {@code
   * begins}.
   */
  static Births phases(double length, double rate, double... begins) {
    return (time, random) -> {
      for (double begin : begins) {
        double next = Math.max(begin, time) + exponential(1 / rate, random);
        if (next < begin + length) {
          return next;
        }
      }
      return NEVER;
    };
  }

  // ---- Lives

  static Life forever() {
    return (birth, random) -> NEVER;
  }

  static Life exponentially(double mean) {
    return (birth, random) -> exponential(mean, random);
  }

  static Life logNormally(double median, double sigma) {
    return (birth, random) -> median * Math.exp(sigma * random.nextGaussian());
  }

  static Life exactly(double seconds) {
    return (birth, random) -> seconds * (1 + 0.01 * random.nextDouble());
  }

  /** A life until the next multiple of the period, so that all objects are freed together. */
  static Life untilRenewed(double period) {
    return (birth, random) -> period - birth % period;
  }

  /** An infinite life for objects of the first seconds, and another life for later ones. */
  static Life foreverIfBornIn(double seconds, Life life) {
    return (birth, random) -> birth < seconds ? NEVER : life.of(birth, random);
  }

  static Life either(double share, Life one, Life other) {
    return (birth, random) ->
        random.nextDouble() < share ? one.of(birth, random) : other.of(birth, random);
  }

  // ---- Uses

  static Use atBirth() {
    return (time, birth, random) -> NEVER;
  }

  static Use every(double mean) {
    return (time, birth, random) -> time + exponential(mean, random);
  }

  /** A use of each object about once per period, at different times. */
  static Use eachAfter(double period) {
    return (time, birth, random) -> time + period * (0.9 + 0.2 * random.nextDouble());
  }

  /** A use of all objects at the same time, once per period. */
  static Use allTogether(double period) {
    return (time, birth, random) -> time - time % period + period;
  }

  /** Limits {@code use} to the first {@code seconds} of each object's life. */
  static Use forTheFirst(double seconds, Use use) {
    return (time, birth, random) -> {
      double next = use.after(time, birth, random);
      return next < birth + seconds ? next : NEVER;
    };
  }

  static double exponential(double mean, Random random) {
    return -mean * Math.log(1 - random.nextDouble());
  }
}
