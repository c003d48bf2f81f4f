package io.mallometer.internal.symbol;

import org.jspecify.annotations.Nullable;

/**
 * A library or executable at the time when a sample's stack first led through it. It may have been
 * unloaded later, and its file deleted.
 *
 * @param begin the first address of its mappings
 * @param end the address behind its last mapping
 * @param bias the number that the loader added to the addresses in the file
 * @param path its path, as the loader knows it; empty for an executable whose path is unknown
 * @param buildId its build id in hexadecimal digits; empty if it has none
 */
public record RecordedModule(long begin, long end, long bias, String path, String buildId) {

  /**
   * Returns the hash code. This method and {@code equals} are written out, because the first call
   * of each method that the compiler generates for a record takes the JVM 10 ms.
   */
  @Override
  public int hashCode() {
    return Long.hashCode(begin);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other
        || other instanceof RecordedModule module
            && begin == module.begin
            && end == module.end
            && bias == module.bias
            && path.equals(module.path)
            && buildId.equals(module.buildId);
  }
}
