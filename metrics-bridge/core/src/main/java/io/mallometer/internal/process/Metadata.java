package io.mallometer.internal.process;

import java.util.OptionalLong;

/**
 * Class metadata, as the JVM reports it.
 *
 * @param classSpaceReserved the size of the compressed class space; empty without one
 * @param classSpaceCommitted the committed bytes of the class space; empty if unknown
 * @param othersCommitted the committed bytes of other class metadata; empty if unknown
 */
record Metadata(
    OptionalLong classSpaceReserved,
    OptionalLong classSpaceCommitted,
    OptionalLong othersCommitted) {}
