package io.mallometer.internal.process;

import java.util.OptionalLong;

/**
 * What the JVM says about its class metadata.
 *
 * @param classSpaceReserved size of the compressed class space; empty without one
 * @param classSpaceCommitted committed of it; empty if unknown
 * @param othersCommitted committed outside of it; empty if unknown
 */
record Metadata(
    OptionalLong classSpaceReserved,
    OptionalLong classSpaceCommitted,
    OptionalLong othersCommitted) {}
