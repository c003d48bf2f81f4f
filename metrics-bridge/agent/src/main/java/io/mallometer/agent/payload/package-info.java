/** What runs behind the isolated class loader; it may use the bridge and its libraries freely. */
@NullMarked
package io.mallometer.agent.payload;

import org.jspecify.annotations.NullMarked;
