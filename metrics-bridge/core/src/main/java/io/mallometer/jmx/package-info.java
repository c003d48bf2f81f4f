/**
 * The MBeans for JConsole and every other JMX client; {@link io.mallometer.jmx.NativeMemoryMBeans}
 * registers them.
 */
@NullMarked
package io.mallometer.jmx;

import org.jspecify.annotations.NullMarked;
