package io.mallometer.internal.symbol;

import org.jspecify.annotations.Nullable;

/**
 * A library or executable as the native library found it when a sample's stack first led through
 * it. It may have been unloaded since, and its file deleted.
 *
 * @param begin the first address of its mappings
 * @param end the address behind its last mapping
 * @param bias what the loader added to the addresses in the file
 * @param path its path, as the loader knows it; empty for an executable whose path is unknown
 * @param buildId its build id in hexadecimal digits; empty if it has none
 */
public record RecordedModule(long begin, long end, long bias, String path, String buildId) {

  /**
   * Written out, as is equals: the JVM puts together what a record has by itself at the first call,
   * which takes 10 ms each.
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
