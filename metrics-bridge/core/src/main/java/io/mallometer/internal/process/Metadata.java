package io.mallometer.internal.process;

import java.util.OptionalLong;

/**
 * Class metadata, as the JVM reports it.
 *
 * @param classSpaceReserved size of the compressed class space; empty without one
 * @param classSpaceCommitted committed bytes in it; empty if unknown
 * @param othersCommitted committed bytes outside of it; empty if unknown
 */
record Metadata(
    OptionalLong classSpaceReserved,
    OptionalLong classSpaceCommitted,
    OptionalLong othersCommitted) {}
