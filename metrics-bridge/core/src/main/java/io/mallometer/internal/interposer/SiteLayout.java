package io.mallometer.internal.interposer;

import io.mallometer.internal.symbol.RecordedMethod;
import io.mallometer.internal.symbol.RecordedModule;
import io.mallometer.model.Estimate;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The structs of call sites, of ABI version {@value Availability#ABI_VERSION}, by byte offset. The
 * header orders fields so that there is no padding; a test compares these offsets with a C
 * compiler's.
 */
final class SiteLayout {

  /** {@code struct mallometer_site}. */
  static final int NUMBER = 0;

  static final int FRAMES = 4;
  static final int ALLOCATED = 8;
  static final int FREED = 48;
  static final int BYTES = 88;

  /** {@code struct mallometer_site_sums}, from {@link #ALLOCATED} and {@link #FREED}. */
  static final int SAMPLES = 0;

  static final int OBJECTS = 8;
  static final int SIZE = 16;
  static final int OBJECTS_VARIANCE = 24;
  static final int SIZE_VARIANCE = 32;

  /** {@code struct mallometer_module}. */
  static final int MODULE_BUILD_ID_BYTES = 4;

  static final int MODULE_BEGIN = 8;
  static final int MODULE_END = 16;
  static final int MODULE_BIAS = 24;
  static final int MODULE_BUILD_ID = 32;
  static final int MODULE_PATH = 64;
  static final int MODULE_PATH_BYTES = 1024;
  static final int MODULE_BYTES = MODULE_PATH + MODULE_PATH_BYTES;

  /** {@code struct mallometer_method}. */
  static final int METHOD_SIZE = 0;

  static final int METHOD_CLASS = 8;
  static final int METHOD_CLASS_BYTES = 768;
  static final int METHOD_NAME = METHOD_CLASS + METHOD_CLASS_BYTES;
  static final int METHOD_NAME_BYTES = 256;
  static final int METHOD_SOURCE = METHOD_NAME + METHOD_NAME_BYTES;
  static final int METHOD_SOURCE_BYTES = 256;
  static final int METHOD_LINE_COUNT = METHOD_SOURCE + METHOD_SOURCE_BYTES;
  static final int METHOD_LINES = METHOD_LINE_COUNT + 8;
  static final int METHOD_MOST_LINES = 1024;
  static final int METHOD_BYTES = METHOD_LINES + METHOD_MOST_LINES * 2 * Integer.BYTES;

  /** {@code struct mallometer_object}. */
  static final int OBJECT_SIZE = 0;

  static final int OBJECT_PROBABILITY = 8;
  static final int OBJECT_BORN_NS = 16;
  static final int OBJECT_SITE = 24;
  static final int OBJECT_PLACEMENT = 32;
  static final int OBJECT_LAST_ACCESS_NS = 40;
  static final int OBJECT_BYTES = 48;

  /** The most sites that the library knows at once. Their numbers differ modulo this one. */
  static final int MOST_SITES = 16_384;

  /** The most frames of a stack: 128 native ones and 512 of Java. */
  static final int MOST_FRAMES = 640;

  private SiteLayout() {}

  /** The place of a site in an array of {@link #MOST_SITES}. */
  static int place(int number) {
    return Math.floorMod(number, MOST_SITES);
  }

  /**
   * Objects or bytes that were allocated, from their offsets in the sums. The library's variance is
   * that of what was sampled; what may have come since the last sample adds a mean sample's square,
   * less where samples are so large that none is left out.
   */
  static Estimate allocated(ByteBuffer sites, int site, int value, int variance, double interval) {
    int sums = site + ALLOCATED;
    long samples = sites.getLong(sums + SAMPLES);
    double left = 1 - sites.getDouble(sums + SIZE) / sites.getDouble(sums + OBJECTS) / interval;
    double mean = sites.getDouble(sums + value) / samples;
    double since = interval > 1 && left > 0 ? mean * mean * left : 0;
    return new Estimate(
        sites.getDouble(sums + value), sites.getDouble(sums + variance) + since, samples);
  }

  /**
   * Those that are live: what was allocated and not freed. Rounding may leave a little below
   * nothing where all is freed. Without live samples the variance is the square of what one would
   * stand for.
   */
  static Estimate live(ByteBuffer sites, int site, int value, int variance, double interval) {
    Estimate allocated = allocated(sites, site, value, variance, interval);
    long samples = allocated.samples() - sites.getLong(site + FREED + SAMPLES);
    if (samples <= 0) {
      double one = allocated.value() > 0 ? allocated.variance() / allocated.value() : 0;
      return new Estimate(0, one * one, 0);
    }
    double live = Math.max(0, difference(sites, site, value));
    double since = allocated.variance() - sites.getDouble(site + ALLOCATED + variance);
    // Nothing at all where objects are empty, as they can be with headers.
    double share = live > 0 ? live / allocated.value() : 0;
    return new Estimate(
        live, Math.max(0, difference(sites, site, variance)) + since * share, samples);
  }

  /** The bytes that are live, without what rounding leaves below nothing. */
  static double liveBytes(ByteBuffer sites, int site) {
    return Math.max(0, difference(sites, site, SIZE));
  }

  private static double difference(ByteBuffer sites, int site, int offset) {
    return sites.getDouble(site + ALLOCATED + offset) - sites.getDouble(site + FREED + offset);
  }

  /** Decodes an element of an array of modules. */
  static RecordedModule module(ByteBuffer modules, int at) {
    byte[] id = new byte[Math.min(32, Math.max(0, modules.getInt(at + MODULE_BUILD_ID_BYTES)))];
    modules.get(at + MODULE_BUILD_ID, id);
    return new RecordedModule(
        modules.getLong(at + MODULE_BEGIN),
        modules.getLong(at + MODULE_END),
        modules.getLong(at + MODULE_BIAS),
        ReportLayout.text(modules, at + MODULE_PATH, MODULE_PATH_BYTES),
        HexFormat.of().formatHex(id));
  }

  /** Decodes a method. */
  static RecordedMethod method(ByteBuffer method) {
    int count = Math.min(METHOD_MOST_LINES, Math.max(0, method.getInt(METHOD_LINE_COUNT)));
    int[] lines = new int[2 * count];
    method
        .slice(METHOD_LINES, lines.length * Integer.BYTES)
        .order(ByteOrder.nativeOrder())
        .asIntBuffer()
        .get(lines);
    return new RecordedMethod(
        className(ReportLayout.text(method, METHOD_CLASS, METHOD_CLASS_BYTES)),
        ReportLayout.text(method, METHOD_NAME, METHOD_NAME_BYTES),
        ReportLayout.text(method, METHOD_SOURCE, METHOD_SOURCE_BYTES),
        lines);
  }

  /** {@code Ljava/lang/String;} as a name; a signature that was cut has no semicolon. */
  private static String className(String signature) {
    int begin = signature.startsWith("L") ? 1 : 0;
    int end = signature.length() - (signature.endsWith(";") ? 1 : 0);
    return signature.substring(begin, Math.max(begin, end)).replace('/', '.');
  }
}
