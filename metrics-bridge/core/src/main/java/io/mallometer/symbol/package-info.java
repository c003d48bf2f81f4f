/** Addresses and method numbers to names: library, symbol, Java method and line. */
@NullMarked
package io.mallometer.symbol;

import org.jspecify.annotations.NullMarked;
