/**
 * The code that an isolated class loader loads. It may use all of mallometer's classes and
 * libraries.
 */
@NullMarked
package io.mallometer.agent.payload;

import org.jspecify.annotations.NullMarked;
