/** The code behind the isolated class loader. It may use the bridge and its libraries freely. */
@NullMarked
package io.mallometer.agent.payload;

import org.jspecify.annotations.NullMarked;
