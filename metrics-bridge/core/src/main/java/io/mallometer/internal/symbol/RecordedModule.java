package io.mallometer.internal.symbol;

import org.jspecify.annotations.Nullable;

/**
 * A library or executable, as it was when it first appeared in the stack of a sample. It may have
 * been unloaded later, and its file deleted.
 *
 * @param begin the first address of its mappings
 * @param end the first address after its mappings
 * @param bias the number that the loader added to the addresses in the file
 * @param path the path that the loader gives; empty for an executable whose path is unknown
 * @param buildId its build id in hexadecimal digits; empty if it has none
 */
public record RecordedModule(long begin, long end, long bias, String path, String buildId) {

  /**
   * Returns the hash code. It is written by hand, because the first call of a method that the
   * compiler generates for a record takes 10 ms.
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
