/** The code that an isolated class loader loads. It may use the bridge and its libraries freely. */
@NullMarked
package io.mallometer.agent.payload;

import org.jspecify.annotations.NullMarked;
